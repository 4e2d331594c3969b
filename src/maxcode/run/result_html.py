"""A result in a notebook: a small block of HTML that loads nothing; foreign text is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from maxcode.run.report.html import Html

_BLOCK = "font-family:system-ui,sans-serif;max-width:60em"
_TEXT = "white-space:pre-wrap;font-size:.85em;margin:.4em 0"


def page_of(headline: str, text: str, files: Mapping[str, Path] | None = None) -> str:
    """The headline, the folded lines, and links to files by name."""
    from maxcode.run.report.html import element  # with all of the report, which few results need

    links = [_link(name, path) for name, path in (files or {}).items()]
    parts = [element("strong", headline)]
    parts += [element("p", *links, style="margin:.4em 0")] if links else []
    parts.append(element("details", element("summary", "Details"), element("pre", text, style=_TEXT)))
    return str(element("div", *parts, style=_BLOCK))


def _link(name: str, path: Path) -> Html:
    """A link relative to the notebook's folder, if the file is below it: notebook servers open only such links."""
    from maxcode.run.report.html import element

    path = path.resolve()
    here = Path.cwd()
    address = f"./{quote(path.relative_to(here).as_posix())}" if path.is_relative_to(here) else path.as_uri()
    return element("a", name, href=address, target="_blank", style="margin-right:1em")
