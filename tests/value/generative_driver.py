"""Train a small generative value model: python generative_driver.py RUNS OUT DEATH.

DEATH: die by SIGKILL after so many words of progress, each of which follows a checkpoint; 0 = never.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from maxcode.train.to_go import tuning
from maxcode.train.to_go.dataset import assembled
from maxcode.train.to_go.fitting import Fit, fit
from maxcode.train.to_go.pairs import read_pairs, run_folders
from maxcode.value import Shape


def main(runs: str, out: str, death: str) -> None:
    left = int(death)

    def say(words: str) -> None:
        nonlocal left
        print(words, flush=True)
        left -= "batch" in words and "goes on" not in words
        if left == 0 and int(death):
            os.kill(os.getpid(), signal.SIGKILL)

    tuning.EVERY = 5
    data = assembled(read_pairs(run_folders([Path(runs)])), frozenset("b"), "quantile")
    fit("generative", data, Fit(Path(out), say=say, shape=Shape(32, 1, 2, 320), context=128))


if __name__ == "__main__":
    main(*sys.argv[1:])
