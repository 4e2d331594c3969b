"""Code that the drivers of other tools share.  It runs in their environments, without maxcode, on the standard library.

The problem and every score come from ``scorer.py`` behind a unix socket, so no program of a model runs here.
"""

import argparse
import json
import os
import socket
from pathlib import Path

SOCKET, KIND = "PEER_SCORER", "PEER_SCORE"


def asked(request):
    """One request to the scorer, one answer; raises RuntimeError if it could not answer."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(os.environ[SOCKET])
        line.sendall(json.dumps(request).encode() + b"\n")
        with line.makefile("rb") as answer:
            found = json.loads(answer.readline())
    if "error" in found:
        raise RuntimeError(found["error"])
    return found


def scored(text):
    """The score of a program, and the feedback that the tool may show its model."""
    found = asked({"kind": os.environ[KIND], "program": text})
    reasons = "\n".join(found["reasons"])
    return found["score"], {"outcome": found["outcome"], **({"reasons": reasons} if reasons else {})}


def task(problem):
    """The task for a model, in the same words for every tool."""
    return (
        f"{problem['statement'].strip()}\n\nRewrite the program so that it runs faster; its output must stay the same. "
        f"It is built with: {problem['flags']}. FITNESS is its speed-up over the original, 0 where it is wrong."
    )


def write_found(folder, best, programs):
    """``found.json``: the best (score, program, original), and all programs (iteration, score, program)."""
    scratch = folder / "found.json.new"
    scratch.write_text(json.dumps({"best": best, "programs": programs}, indent=1) + "\n")
    scratch.replace(folder / "found.json")


def model_options(verb):
    """The options of every driver that calls a model."""
    verb.add_argument("--url", required=True)
    verb.add_argument("--model", default="fixed")
    verb.add_argument("--parallel", type=int, default=2)
    verb.add_argument("--seed", type=int, default=0)


def search_options(verb):
    """The options of a search, the same for every driver."""
    model_options(verb)
    verb.add_argument("--socket", type=Path, required=True)
    verb.add_argument("--naive", action="store_true", help="score as a user's own evaluator would")
    verb.add_argument("--iterations", type=int, default=24)
    verb.add_argument("--out", type=Path, required=True)


def searching(description):
    """The options of a driver that only searches; names the scorer to this process and its children."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    search_options(parser.add_subparsers(required=True).add_parser("search"))
    options = parser.parse_args()
    point_at_scorer(options)
    return options


def point_at_scorer(options):
    """Names the scorer to this process and its children, and makes the folder."""
    os.environ[SOCKET], os.environ[KIND] = str(options.socket), "naive" if options.naive else "verified"
    options.out.mkdir(parents=True, exist_ok=True)
