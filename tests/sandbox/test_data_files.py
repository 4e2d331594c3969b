"""Arguments, variables and data files of a program: it gets them, and leaves nothing in them for the next run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import anyio
import pytest

from maxcode.errors import InputError
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox
from tests.support.sandboxed import RUN

pytestmark = [pytest.mark.tiers("1", "2"), pytest.mark.sandbox]
DATA = {"data.txt": b"one\n", "more/data.txt": b"two\n"}


def twice(sandbox: Sandbox, job: Job, bare: bool, data: dict[str, bytes]) -> list[Ran]:
    async def runs() -> list[Ran]:
        async with sandbox.session(job.blobs, Mounts(data=data), bare=bare) as session:
            return [await session.run(job) for _ in range(2)]

    return anyio.run(runs)


@pytest.mark.parametrize("kind", ["bare", "hosted"])
def test_a_program_reads_what_it_is_given_and_can_keep_nothing_there(
    sandbox: Sandbox, program: Callable[[str], Blob], kind: str
) -> None:
    artefact = program("data")
    job = replace(RUN, argv=("{artefact}", kind, "a b"), artefact=artefact, variables=("GREETING=hello = you", "B="))
    first, second = twice(sandbox, job, kind == "bare", DATA)
    assert first.ok, (first.code, first.stderr)
    told = first.stdout.decode().splitlines()
    assert told[:6] == ["program", kind, "a b", "hello = you", "one", "two"]
    assert not [line for line in told if line.startswith("it could")]
    assert told[6].startswith("4 bytes") and len(told) == 8
    assert second.stdout == first.stdout, "a run can see what an earlier one did with a file"


def test_without_files_the_folder_is_empty(sandbox: Sandbox, program: Callable[[str], Blob]) -> None:
    first, _ = twice(sandbox, replace(RUN, artefact=program("data")), True, {})
    assert first.code == 9


@pytest.mark.parametrize("name", ["../data.txt", "/etc/passwd", ""])
def test_a_file_outside_the_folder_is_refused(sandbox: Sandbox, program: Callable[[str], Blob], name: str) -> None:
    with pytest.raises(InputError, match="must be relative and stay below"):
        twice(sandbox, replace(RUN, artefact=program("data")), True, {name: b""})
