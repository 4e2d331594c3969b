"""ShinkaEvolve on one problem, in its own environment: `pip install shinka-evolve`, without maxcode.

    PYTHON benchmarks/peers/shinka_run.py search --url URL --model M --socket S --iterations 24 --seed 0 --out DIR

ShinkaEvolve's own defaults, except: one local model, whole-file rewrites, no embeddings and no notes on the whole run
(there is no model for them), text feedback on.  It needs markers around the code that may change: the driver adds them
around the whole program, and removes them afterwards.  It knows C++ and Python, but not C.  An unusable answer counts
as a generation of its budget, as usual for it; it takes no seed.

This file is also ShinkaEvolve's evaluation script: it runs it with --program_path and --results_dir.
"""

import argparse
import json
import random
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from asking import asked, scored, searching, task, write_found

START, END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"


def marked(text, language):
    sign = "#" if language == "python" else "//"
    return f"{sign} {START}\n{text.rstrip()}\n{sign} {END}\n"


def unmarked(text):
    return "".join(line for line in text.splitlines(keepends=True) if START not in line and END not in line)


def evaluate(program, results):
    """ShinkaEvolve's hook: ``metrics.json`` and ``correct.json`` of the program in a file."""
    score, told = scored(unmarked(Path(program).read_text()))
    feedback = "\n".join(f"{name}: {text}" for name, text in told.items())
    folder = Path(results)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metrics.json").write_text(json.dumps({"combined_score": score, "text_feedback": feedback}))
    (folder / "correct.json").write_text(json.dumps({"correct": score > 0, "error": None if score > 0 else feedback}))


def search(options):
    from shinka.core import EvolutionConfig, ShinkaEvolveRunner
    from shinka.database import DatabaseConfig
    from shinka.launch import LocalJobConfig

    random.seed(options.seed)
    problem = asked({"kind": "problem"})
    evolution = EvolutionConfig(
        task_sys_msg=task(problem),
        patch_types=["full"],
        patch_type_probs=[1.0],
        num_generations=options.iterations + 1,  # the original is its generation 0
        language=problem["language"],
        llm_models=[f"local/{options.model}@{options.url}"],
        meta_rec_interval=None,
        embedding_model=None,
        use_text_feedback=True,
        results_dir=str(options.out / "shinka"),
    )
    runner = ShinkaEvolveRunner(
        evolution,
        LocalJobConfig(eval_program_path=__file__),
        DatabaseConfig(),
        banner_style="minimal",
        verbose=False,
        max_evaluation_jobs=options.parallel,
        max_proposal_jobs=options.parallel,
        init_program_str=marked(problem["program"], problem["language"]),
    )
    runner.run()
    programs = recorded(options.out / "shinka" / "programs.sqlite")
    best = max(programs, key=lambda one: one["score"])
    told = {"score": best["score"], "program": best["program"], "original": problem["program"]}
    write_found(options.out, told, programs)


def recorded(path):
    """All programs of a run's database, by generation; a program on several islands counts once."""
    with sqlite3.connect(path) as base:
        rows = base.execute("SELECT generation, combined_score, correct, code FROM programs ORDER BY generation")
        found = {(number, code): (score or 0.0) if correct else 0.0 for number, score, correct, code in rows}
    return [{"iteration": number, "score": score, "program": unmarked(code)} for (number, code), score in found.items()]


def main():
    if "--program_path" not in sys.argv:
        return search(searching(__doc__))
    parser = argparse.ArgumentParser()
    parser.add_argument("--program_path", required=True)
    parser.add_argument("--results_dir", required=True)
    options, _ = parser.parse_known_args()
    return evaluate(options.program_path, options.results_dir)


if __name__ == "__main__":
    main()
