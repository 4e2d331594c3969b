"""GEPA's optimize_anything on one problem, in its own environment: `pip install gepa`, without maxcode.

    PYTHON benchmarks/peers/gepa_run.py search --url URL --model M --socket S --iterations 24 --seed 0 --out DIR

Single-task search with GEPA's own defaults, except: ``iterations`` proposals are the budget (its own measure, metric
calls, counts the parent again), evaluations are cached, one at a time.  Our function calls the model, because GEPA's
own way is litellm: same prompt, no seed.
"""

import json
import sys
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from asking import asked, scored, searching, task, write_found

TEMPERATURE, MOST_TOKENS, TIMEOUT_S = 0.6, 16_384, 600


def model(url, name):
    """The reflection model: a prompt or messages -> the answer's text."""

    def answer(prompt):
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        body = {"model": name, "messages": messages, "temperature": TEMPERATURE, "max_tokens": MOST_TOKENS}
        head = {"Content-Type": "application/json", "Authorization": "Bearer none"}
        request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode(), head)
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as told:
            return json.load(told)["choices"][0]["message"]["content"]

    return answer


def search(options):
    from gepa.optimize_anything import EngineConfig, GEPAConfig, ReflectionConfig, optimize_anything

    problem = asked({"kind": "problem"})
    seen = {}

    def evaluate(candidate):
        score, told = scored(candidate)
        seen.setdefault(candidate, score)
        return score, told

    engine = EngineConfig(
        seed=options.seed, parallel=False, cache_evaluation=True, max_candidate_proposals=options.iterations
    )
    reflection = ReflectionConfig(reflection_lm=model(options.url, options.model))
    result = optimize_anything(
        problem["program"], evaluator=evaluate, objective=task(problem), config=GEPAConfig(engine, reflection)
    )
    best = result.best_candidate
    programs = [
        {"iteration": number, "score": score, "program": text} for number, (text, score) in enumerate(seen.items())
    ]
    score = result.val_aggregate_scores[result.best_idx]
    write_found(options.out, {"score": score, "program": best, "original": problem["program"]}, programs)


if __name__ == "__main__":
    search(searching(__doc__))
