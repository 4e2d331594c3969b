"""What torch.compile keeps of a *reference*, for later processes and later commands; never a candidate's.

A process compiles the reference in its own sandbox, and packs inductor's folder (``inside/inductor.py``).  The archive
is named by all that it depends on, as kept builds are (``ladder/kept_builds.py``), and lies in the folder ``inductor``
of the cache, which is the user's alone.  It is read in the sandbox of the compiled reference and nowhere else.

The libraries with which inductor tries what the processor can do, and its compiled header, are the same for all
references, and take longer than most of these: they are an archive of their own.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from pathlib import Path
from typing import final

import msgspec

from maxcode.evaluate.ladder.kept_builds import VARIABLE, name_of
from maxcode.evaluate.ladder.own_folder import OwnFolder, stamp
from maxcode.evaluate.module.sides import BESIDE, DRIVER, OUT, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import TORCH_FOLDER, Runtime
from maxcode.sandbox.archives import opened

FOLDER = "inductor"
FILES_AT_MOST, BYTES_AT_MOST, FILE_AT_MOST = 64, 512 << 20, 256 << 20
_COMPILER = "g++"  # of inductor
_TORCH = ("version.py", "lib/libtorch_cpu.so", "lib/libtorch_python.so", "_inductor/codecache.py")
_OF_GRAPHS = ("fxgraph/", "aotautograd/", ".main.", ".py")


@final
class KeptInductor:
    """What is kept in ``folder``; None: only what this process has made itself is used."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._known: dict[str, bytes] = {}

    @classmethod
    def below(cls, cache_folder: Path, keeps: bool) -> KeptInductor:
        """That of this cache folder; none if the user asked for none."""
        return cls(cache_folder / FOLDER if keeps and not os.environ.get(VARIABLE) else None)

    async def given(self, stage: SideStarter, reference: ModuleSide) -> tuple[bytes, ...]:
        """The archives for a process of the compiled reference: kept ones, or new ones; none if they cannot be made,
        which the process itself then tells."""
        tools = _stamps(stage.runtime)
        contract = msgspec.json.encode((stage.contract.init, stage.contract.inputs, stage.contract.weights)).decode()
        parts = (*tools, hashlib.sha256(reference.text.encode()).hexdigest(), contract, str(stage.threads))
        own, shared = name_of(parts, _COMPILER), name_of(tools, _COMPILER)
        found = tuple(one for name in (own, shared) if (one := self._find(name)) is not None)
        if len(found) == 2:
            return found
        ran = await stage.precompiled(reference, found)
        if not ran.ok or OUT not in ran.files:
            return ()
        for name, content in zip((own, shared), parted(ran.files[OUT]), strict=True):
            self._keep(name, content)
        return self._known[own], self._known[shared]

    def _find(self, name: str) -> bytes | None:
        return self._known.get(name) or (_own(self.folder).find(name) if self.folder is not None else None)

    def _keep(self, name: str, content: bytes) -> None:
        self._known[name] = content
        if self.folder is not None:
            _own(self.folder).keep(name, content)


def _own(folder: Path) -> OwnFolder:
    return OwnFolder(folder, FILES_AT_MOST, BYTES_AT_MOST, FILE_AT_MOST)


def _stamps(runtime: Runtime) -> tuple[str, ...]:
    """Of torch, Python, and the code that runs in the sandbox."""
    packages = next(folder for folder, place in runtime.binds if place == TORCH_FOLDER)
    code = hashlib.sha256("".join((DRIVER, *BESIDE.values())).encode()).hexdigest()
    return (*(stamp(packages / "torch" / name) for name in _TORCH), runtime.torch, runtime.python, code)


def parted(archive: bytes) -> tuple[bytes, bytes]:
    """An archive in two: what belongs to a graph, and what does not."""
    own, shared = io.BytesIO(), io.BytesIO()
    with (
        opened(archive) as given,
        tarfile.open(fileobj=own, mode="w") as of_graph,
        tarfile.open(fileobj=shared, mode="w") as of_any,
    ):
        for one in given:
            if one.isfile():
                part = of_graph if any(word in one.name for word in _OF_GRAPHS) else of_any
                part.addfile(one, given.extractfile(one))
    return own.getvalue(), shared.getvalue()
