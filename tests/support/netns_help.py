"""Nodes in network namespaces of their own, whose links a test can cut: a small network with nothing beyond it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import final

SUBNET = "10.237.41"  # of a bridge that leads nowhere
HOST = f"{SUBNET}.1"


@final
@dataclass(frozen=True, slots=True)
class Network:
    """``tag`` is in all its names; a place is a namespace with one link to the bridge."""

    tag: str

    def command(self, place: str, *command: str) -> list[str]:
        """What runs a command in a place."""
        return ["ip", "netns", "exec", self.tag + place, *command]

    def cut(self, place: str) -> None:
        """Nothing goes to the place or comes from it, and nobody is told."""
        run("ip", "link", "set", self.tag + place, "down")

    def heal(self, place: str) -> None:
        """The link is there again."""
        run("ip", "link", "set", self.tag + place, "up")


def run(*command: str) -> None:
    """Run a command of ``ip``; RuntimeError with its complaint where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}; it needs root")


@contextmanager
def network(places: Sequence[str]) -> Iterator[Network]:
    """A bridge with the address HOST, and a namespace for each place with the next addresses."""
    found = Network(f"mx{os.getpid() % 100_000}")
    bridge = f"{found.tag}br"
    with ExitStack() as stack:
        run("ip", "link", "add", bridge, "type", "bridge")
        stack.callback(run, "ip", "link", "delete", bridge)
        run("ip", "address", "add", f"{HOST}/24", "dev", bridge)
        run("ip", "link", "set", bridge, "up")
        for number, place in enumerate(places, start=2):
            space = found.tag + place
            run("ip", "netns", "add", space)
            stack.callback(run, "ip", "netns", "delete", space)  # and its link with it
            run("ip", "link", "add", space, "type", "veth", "peer", "name", "out", "netns", space)
            run("ip", "link", "set", space, "master", bridge, "up")
            run(*found.command(place, "ip", "address", "add", f"{SUBNET}.{number}/24", "dev", "out"))
            run(*found.command(place, "ip", "link", "set", "out", "up"))
            run(*found.command(place, "ip", "link", "set", "lo", "up"))
        yield found
