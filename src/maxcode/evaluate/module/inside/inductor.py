"""What torch.compile keeps of a reference, so that its next process need not compile it again; runs in the sandbox.

The folders are inductor's own caches: it looks there by the graph, its options, the processor and its own version, and
compiles what it does not find.
"""

from __future__ import annotations

import glob
import os
import tarfile
from typing import Any

KEPT = "/src/inductor"  # archives of the folders, empty where nothing is known yet
ROOT = "/tmp"
FOLDERS = ("scratch/inductor", "torchinductor_*/precompiled_headers")


def unpack() -> None:
    """Give inductor what an earlier process has kept."""
    for path in sorted(glob.glob(KEPT + "/*")):
        with tarfile.open(path) as archive:
            archive.extractall(ROOT)


def precompile(torch: Any, meta: dict[str, Any], driver: Any) -> None:
    """The role ``precompile``: compiles the reference as its side does, and packs what inductor keeps."""
    unpack()
    model = driver.construct(torch, meta, driver.load_file(meta))
    with torch.no_grad():
        torch.compile(model)(*driver.arguments(meta["inputs"], driver.random_inputs(torch, meta)))
    with tarfile.open(driver.OUT, "w") as archive:
        for pattern in FOLDERS:
            for path in glob.glob(pattern, root_dir=ROOT):
                archive.add(os.path.join(ROOT, path), path)
