"""What rows of two integers are if they are read as the edges of a graph: promises that problems make.  Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

EDGE_WORDS = ("forest", "connected", "acyclic")

Edges = Sequence[tuple[int, int]]


def edge_words(edges: Edges) -> Mapping[str, str]:
    """By property: whether they are a forest (no edge closes a ring), connect all nodes that they name, and have no
    cycle if each leads from its first node to its second."""
    nodes = {node for edge in edges for node in edge}
    parts, closing = _joined(nodes, edges)
    holds = not closing, parts == 1, _is_acyclic(nodes, edges)
    return {name: "yes" if one else "no" for name, one in zip(EDGE_WORDS, holds, strict=True)}


def _joined(nodes: set[int], edges: Edges) -> tuple[int, int]:
    """The number of parts that hang together, and of edges whose ends already did."""
    above = {node: node for node in nodes}

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    parts, closing = len(nodes), 0
    for one, other in edges:
        a, b = top(one), top(other)
        above[a] = b
        parts, closing = (parts - 1, closing) if a != b else (parts, closing + 1)
    return parts, closing


def _is_acyclic(nodes: set[int], edges: Edges) -> bool:
    after: dict[int, list[int]] = defaultdict(list)
    waits = dict.fromkeys(nodes, 0)
    for one, other in edges:
        after[one].append(other)
        waits[other] += 1
    free = [node for node, count in waits.items() if not count]
    done = 0
    while free:
        node = free.pop()
        done += 1
        for other in after[node]:
            waits[other] -= 1
            if not waits[other]:
                free.append(other)
    return done == len(nodes)
