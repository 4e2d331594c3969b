"""A page as a tree, for questions about what a browser would see.  Strict: what is not closed in order fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "br", "col"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str]
    children: list[Node | str] = field(default_factory=list)

    def all(self, tag: str = "", class_: str = "") -> list[Node]:
        """The descendants with this tag and this class, in order."""
        return [node for node in self.walk() if tag in ("", node.tag) and (not class_ or class_ in node.classes)]

    def one(self, tag: str = "", class_: str = "") -> Node:
        found = self.all(tag, class_)
        assert len(found) == 1, f"{len(found)} of <{tag} class={class_}>"
        return found[0]

    def at(self, identity: str) -> Node:
        return next(node for node in self.walk() if node.attributes.get("id") == identity)

    def walk(self) -> Iterator[Node]:
        for child in self.children:
            if isinstance(child, Node):
                yield child
                yield from child.walk()

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Node("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({key for key, _ in attrs}) == len(attrs), f"an attribute of <{tag}> is given twice"
        node = Node(tag, {key: value or "" for key, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> where <{self.open[-1].tag}> is open"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def parse(page: str) -> Node:
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert builder.open == [builder.root], f"<{builder.open[-1].tag}> is never closed"
    return builder.root


def read(path: Path) -> Node:
    return parse(path.read_text(encoding="utf-8"))


def panels(page: Node) -> dict[str, Node]:
    """The panels of the candidates by id, in order."""
    found = page.at("candidates").all("article", "node")
    named = {panel.one("h3").text.removeprefix("Candidate "): panel for panel in found}
    return {name: panel for name, panel in named.items() if name[0].isdigit()}


def candidates(page: Node) -> list[list[str]]:
    """Of every candidate's panel: id, made from, outcome, speed-up, standing, and all that follows."""
    found = []
    for name, panel in panels(page).items():
        came = panel.one("p", "came")
        told = [came.one("a", "from"), came.one("span", "outcome"), came.one("span", "ratio")]
        marks = " ".join(mark.text for mark in came.all("span", "mark"))
        found.append([name, *(node.text for node in told), marks, panel.text.split(came.text, 1)[1]])
    return found


def rows(table: Node) -> list[list[str]]:
    """The cells of the body, as text."""
    return [[cell.text for cell in row.children if isinstance(cell, Node)] for row in table.one("tbody").all("tr")]
