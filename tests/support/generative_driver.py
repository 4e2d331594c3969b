"""Train a small generative value model: python generative_driver.py RUNS OUT DEATH.

DEATH: die by SIGKILL after so many words of progress, each of which follows a checkpoint; 0 = never.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path
from unittest.mock import patch

from maxcode.search.value import NetworkShape
from maxcode.train.to_go import Training, network_tuning, train_to_go, training
from maxcode.train.to_go.fit import Fit

CONTEXT = 256
SHAPE = NetworkShape(32, 1, 2, 320)


def main(runs: str, out: str, death: str) -> None:
    left = int(death)

    def say(words: str) -> None:
        nonlocal left
        print(words, flush=True)
        left -= "batch" in words and "resumes" not in words
        if left == 0 and int(death):
            os.kill(os.getpid(), signal.SIGKILL)

    network_tuning.EVERY = 5
    wanted = Training((Path(runs),), Path(out), "generative", held_out=("b",))
    with patch.object(training, "Fit", partial(Fit, shape=SHAPE)), patch.object(training, "SMALL_CONTEXT", CONTEXT):
        train_to_go(wanted, say)


if __name__ == "__main__":
    main(*sys.argv[1:])
