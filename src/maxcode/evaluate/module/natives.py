"""The native code of a candidate: compiled in a separate sandbox, carried to the timed one as shared objects.

The candidate is loaded, constructed and called once on random inputs of the right shapes, so that lazily compiled code
(Triton) is compiled too, into a scratch folder that is read-only afterwards.  A candidate that compiles nothing is not
run here.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import final

from maxcode.core.turns import Turns
from maxcode.core.types import Remark
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.module.resources import resources
from maxcode.evaluate.module.sides import OUT, ModuleSide, SideStarter
from maxcode.evaluate.rounds.round import BUILD_FAILED, last_words
from maxcode.sandbox.archives import BROKEN, content, opened
from maxcode.sandbox.sandbox import Ran

_COMPILES = re.compile(r"\b(?:maxcode\.native|cpp_extension|load_inline|ctypes|subprocess|triton)\b")
_NAME = re.compile(r"[A-Za-z0-9_.-]+\.(?:so|log)|triton/(?:[A-Za-z0-9_-]+/)?[A-Za-z0-9_.-]+")
_KEPT = 64
MOST_BYTES = 64 << 20  # of the native code of a candidate; some of them are kept
_DIAGNOSTICS = 16_000


@final
class Natives:
    """Builds the native code of candidates; keeps the last few builds by program text."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, bytes] | Built] = {}
        self._turns = Turns()

    def remarks(self, side: ModuleSide) -> tuple[Remark, ...]:
        """The GPU resources of its kernels, if the build printed them."""
        words = b"\n".join(content for name, content in sorted(side.natives.items()) if name.endswith(".log"))
        return resources(words.decode(errors="replace"), side.text)

    async def of(self, stage: SideStarter, side: ModuleSide) -> tuple[ModuleSide, Built | None]:
        """The side with its shared objects, or the failed build."""
        if not _COMPILES.search(side.text):
            return side, None
        key = hashlib.sha256(side.text.encode()).hexdigest()
        async with self._turns.of(key):
            if key not in self._known:
                self._known[key] = await _build(stage, side)
                while len(self._known) > _KEPT:
                    del self._known[next(iter(self._known))]
            found = self._known[key]
        return (side, found) if isinstance(found, Built) else (replace(side, natives=found), None)


async def _build(stage: SideStarter, side: ModuleSide) -> dict[str, bytes] | Built:
    job = stage.job("build", collect=(OUT,), compiler=True)
    async with stage.sandbox.session([], stage.mounts(side)) as session:
        ran = await session.run(job)
    if not ran.ok or OUT not in ran.files:
        return _failed(ran)
    try:
        found = _unpacked(ran.files[OUT])
    except BROKEN as error:
        return Built(None, f"what its build gave is no archive: {error}", "")
    if (size := sum(map(len, found.values()))) > MOST_BYTES:
        return Built(None, f"its build gave {size} bytes of native code, at most {MOST_BYTES} may be", "")
    return found


def _failed(ran: Ran) -> Built:
    words = ran.stderr.decode(errors="replace")
    return Built(None, last_words(ran) if ran.code != BUILD_FAILED else "it does not build", words[-_DIAGNOSTICS:])


def _unpacked(raw: bytes) -> dict[str, bytes]:
    """The shared objects in an untrusted archive: only plain files with plain names."""
    with opened(raw) as archive:
        files = ((one.name, content(archive, one)) for one in archive if _NAME.fullmatch(one.name))
        return {name: data for name, data in files if data is not None}
