"""OpenEvolve on one problem, in its own environment: `pip install openevolve`, without maxcode.

    PYTHON benchmarks/peers/openevolve_run.py search --url URL --model M --socket S --iterations 24 --seed 0 --out DIR
    PYTHON benchmarks/peers/openevolve_run.py throughput --url URL --parallel P --count N

``search``: the problem and every score come from ``scorer.py`` behind the socket, so no program of a model runs here.
Whole-file rewrites; every setting not in this file is OpenEvolve's default.  The model is called without a seed:
OpenEvolve would send the same seed with every call, and the endpoint would give the same answer.  ``DIR`` gets
``found.json``: the best program, and all programs with OpenEvolve's own scores.

``throughput``: an evaluator that waits 1 ms; prints the same as ``throughput.py``.

This file is also OpenEvolve's evaluation file: OpenEvolve loads it and calls ``evaluate``.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from asking import asked, model_options, point_at_scorer, scored, search_options, task, write_found

STAMPS = "PEER_STAMPS"
UNBOUNDED = 10_000_000


def evaluate(program_path):
    """OpenEvolve's hook: the score of the program in a file."""
    if STAMPS in os.environ:
        return _waited()
    from openevolve.evaluation_result import EvaluationResult

    score, artifacts = scored(Path(program_path).read_text())
    return EvaluationResult({"combined_score": score}, artifacts)


def _waited():
    time.sleep(0.001)
    with open(os.environ[STAMPS], "a") as stamps:
        stamps.write(f"{time.monotonic()}\n")
    return {"combined_score": time.monotonic() % 1}


def configured(options, language, suffix):
    """OpenEvolve's configuration: whole-file rewrites, one model, no limits that would cut programs or timings."""
    from openevolve.config import Config, LLMModelConfig

    config = Config()
    config.random_seed = None  # it would be sent to the model, the same with every call
    config.database.random_seed = options.seed
    config.language, config.file_suffix = language, suffix
    config.diff_based_evolution = False
    config.max_code_length = UNBOUNDED
    config.log_level = "WARNING"
    config.checkpoint_interval = UNBOUNDED
    config.evaluator.cascade_evaluation = False
    config.evaluator.parallel_evaluations = options.parallel
    config.evaluator.timeout = 3600
    model = LLMModelConfig(
        api_base=options.url, api_key="none", name=options.model, temperature=0.6, max_tokens=16_384, timeout=600
    )
    model.retries, model.retry_delay = 3, 1
    config.llm.models = [model]
    config.llm.evaluator_models = [model]
    return config


def evolved(config, program, folder, iterations):
    """Runs OpenEvolve; returns its controller, which holds the result."""
    from openevolve.controller import OpenEvolve

    path = Path(folder) / f"initial{config.file_suffix}"
    path.write_text(program)
    controller = OpenEvolve(str(path), __file__, config, str(folder))
    asyncio.run(controller.run(iterations=iterations))
    return controller


def search(options):
    point_at_scorer(options)
    problem = asked({"kind": "problem"})
    config = configured(options, problem["language"], problem["suffix"])
    config.prompt.system_message = task(problem)
    controller = evolved(config, problem["program"], options.out, options.iterations)
    programs = [
        {"iteration": one.iteration_found, "score": one.metrics.get("combined_score", 0.0), "program": one.code}
        for one in controller.database.programs.values()
    ]
    best = controller.database.get_best_program("combined_score")
    found = {"score": best.metrics["combined_score"], "program": best.code, "original": problem["program"]}
    write_found(options.out, found, programs)


def throughput(options):
    with tempfile.TemporaryDirectory() as folder:
        os.environ[STAMPS] = str(Path(folder) / "stamps")
        config = configured(options, "python", ".py")
        import openevolve.controller  # noqa: F401  outside the measurement

        before, began = os.times(), time.monotonic()
        evolved(config, "print(0)\n", folder, options.count)
        after = os.times()
        stamps = [float(line) for line in Path(os.environ[STAMPS]).read_text().split()]
    cpu_s = sum(after[:4]) - sum(before[:4])  # user and system, of this process and of its workers
    json.dump({"began": began, "stamps": sorted(stamps[1:]), "cpu_s": cpu_s}, sys.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    searches, rates = verbs.add_parser("search"), verbs.add_parser("throughput")
    search_options(searches)
    searches.set_defaults(run=search)
    rates.set_defaults(run=throughput)
    model_options(rates)
    rates.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
