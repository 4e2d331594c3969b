"""A process that asks a provider for many answers through a journal: URL FOLDER CALLS CONCURRENCY."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from maxcode.llm.clients import Message, ModelRequest
from maxcode.llm.clients.connect import ModelSettings, recorded
from maxcode.llm.journal import Journal


async def main(url: str, folder: Path, calls: int, concurrency: int) -> None:
    with Journal(folder) as journal:
        model = recorded("some-model", ModelSettings(base_url=url, concurrency=concurrency), journal)
        async with anyio.create_task_group() as group:
            for draw in range(calls):
                group.start_soon(model.complete, ModelRequest((Message("user", "Faster."),), draw=draw))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
