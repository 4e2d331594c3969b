"""Markup with automatic escaping.

All content of a report comes from foreign programs, policies, compilers and TOML files.  ``element`` escapes every
child and attribute unless it is ``Html``, and only this module makes ``Html`` of strings.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

_VOID = frozenset({"meta", "br", "col"})
_HIDDEN = (*range(0x09), *range(0x0B, 0x20))
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_VISIBLE: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in _HIDDEN},
    **{code: f"[U+{code:04X}]" for code in _DIRECTIONS},  # they can make a program look different from what it is
    **dict.fromkeys((0x7F, *range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}"),
}


@final
class Html(str):
    """Markup that is safe to use in a page unchanged."""

    __slots__ = ()


def escape(text: str) -> Html:
    """Any text as markup that shows it: control and direction characters are made visible."""
    if isinstance(text, Html):
        return text
    return Html(html.escape(text.translate(_VISIBLE)))


def element(name: str, /, *children: str, **attributes: str) -> Html:
    """``<name attributes>children</name>``; in attribute names ``_`` stands for ``-``, a last ``_`` is dropped."""
    told = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{told}>")
    return Html(f"<{name}{told}>{join(children)}</{name}>")


def join(parts: Iterable[str], separator: str = "") -> Html:
    """The parts one after another, each escaped unless it is ``Html``."""
    return Html(escape(separator).join(map(escape, parts)))


def raw(markup: str) -> Html:
    """Our own style sheet and script, unchanged."""
    return Html(markup)


def paragraphs(*texts: str) -> Html:
    """Each text that is not empty as a paragraph that keeps its line breaks."""
    return join(element("p", text, class_="said") for text in texts if text)


def details(summary: str, *children: str) -> Html:
    """A part that is closed until the reader opens it."""
    return element("details", element("summary", summary), *children)


def scrolled(label: str, *children: str, class_: str) -> Html:
    """A part that may be wider than the page; it can be scrolled by keyboard; ``label`` describes it."""
    return element("div", *children, class_=class_, role="group", aria_label=label, tabindex="0")


def clip(text: str, most: int) -> str:
    """The start of ``text`` that has at most ``most`` bytes when escaped, and the number of characters left out."""
    kept = beginning(text, most)
    left_out = len(text) - len(kept)
    return f"{kept}\n[... {left_out} more characters are in the record]" if left_out else text


def beginning(text: str, most: int) -> str:
    """The longest start of the text that has at most ``most`` bytes when escaped."""
    kept = text[:most]
    while (size := _size(kept)) > most:
        kept = kept[: len(kept) * most // size]
    return kept


def _size(text: str) -> int:
    return len(escape(text).encode())


@final
@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: the first cell names it; ``id`` makes it a link target."""

    cells: Sequence[str]
    id: str = ""
    class_: str = ""


def table(caption: str, headings: Sequence[str], rows: Iterable[TableRow], class_: str = "plain") -> Html:
    """A table with a caption and scoped headings; roles keep its meaning on narrow pages, which change the layout."""
    head = element("tr", *(element("th", text, scope="col", role="columnheader") for text in headings), role="row")
    return element(
        "table",
        element("caption", caption),
        element("thead", head, role="rowgroup"),
        element("tbody", *(_row(row, headings) for row in rows), role="rowgroup"),
        role="table",
        class_=class_,
    )


def _row(row: TableRow, headings: Sequence[str]) -> Html:
    first, *rest = row.cells
    cells = [element("th", first, scope="row", role="rowheader")]
    cells += [element("td", cell, role="cell", class_=f"c{at}") for at, cell in enumerate(rest, start=1)]
    extra = {key: value for key, value in {"id": row.id, "class_": row.class_}.items() if value}
    return element("tr", *cells, role="row", **extra)
