"""``write_report``: the sections of the page, in a reader's order.

They show the result, its curve, the change, its certainty, the candidates, and the source of the numbers.  The page is
one file of at most 2 MB.  Its only address is a link to the certificate in the same folder.  Its content policy lets
the browser load nothing, and run or apply only our one script and one style sheet, known by their hashes; all foreign
content is text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

from maxcode.core.files import write_whole
from maxcode.core.types import StateId
from maxcode.run.report.candidate_panel import whole
from maxcode.run.report.candidates import candidates_section, one_candidate
from maxcode.run.report.certified import certificate_section
from maxcode.run.report.diff import MOST_BYTES, DiffStyle, program_diff
from maxcode.run.report.elites_section import elites_section
from maxcode.run.report.evidence import curve_section, samples_section
from maxcode.run.report.facts import run_facts, spent
from maxcode.run.report.headline import name, progress, verdict
from maxcode.run.report.html import Html, details, element, join, paragraphs, raw
from maxcode.run.report.run_view import RunView, Winner, read_run
from maxcode.run.report.steps import applied_steps
from maxcode.run.report.trust import trust_section

Part = tuple[str, str, Html]

NAME = "report.html"
MOST = 1_950_000  # bytes of a page without its frame
PROGRAM_BYTES = 150_000


def write_report(folder: Path, closing: Sequence[str] | None = None) -> Path:
    """Writes ``report.html`` into a run folder, finished or not, and returns its path.  ``closing``: the final notes of
    the run; None: those of its ``result.json``.

    Raises InputError if the folder is not a run, or cannot be read or written; an earlier report then stays unchanged.
    """
    run = read_run(folder)
    return save(folder / NAME, page(run if closing is None else replace(run, closing=tuple(closing))))


def write_candidate(folder: Path, at: StateId) -> Path:
    """Writes all parts of one candidate to ``report-BATCH-SLOT.html`` in a run folder, and returns its path.

    Raises InputError as ``write_report`` does, and if the run has no such candidate.
    """
    run = read_run(folder)
    title = f"{run.problem_id}: candidate {name(at)}"
    header = element("header", element("h1", run.problem_id), element("p", f"Candidate {name(at)}", class_="headline"))
    parts = [("candidate", "All of it", one_candidate(run, at))]
    return save(folder / f"report-{at[0]}-{at[1]}.html", laid_out(title, header, parts, _footer(run)))


def save(path: Path, text: str) -> Path:
    """Writes a page completely or not at all; raises InputError if it cannot be written."""
    write_whole(path, text.encode())
    return path


def page(run: RunView) -> str:
    """The whole page."""
    title = f"{run.problem_id}: {verdict(run).headline}"
    sections = [part for part in _sections(run) if part is not None]
    return laid_out(title, _header(run), sections, _footer(run), _shipped("report.js"))


def _footer(run: RunView) -> str:
    return f"Written by maxcode from the record in {run.folder.resolve().name}."


def laid_out(title: str, header: Html, sections: Sequence[Part], footer: str, script: str = "") -> str:
    """A page of sections (anchor, title, content), with the style and the content policy of all our pages."""
    links = [element("li", element("a", name, href=f"#{anchor}")) for anchor, name, _ in sections]
    body = element(
        "body",
        element("a", "Skip to the content", href="#content", class_="skip"),
        header,
        element("nav", element("ul", *links), aria_label="Sections"),
        element("main", *(_section(*part) for part in sections), id="content"),
        element("footer", element("p", footer)),
        *([element("script", raw(script))] if script else []),
    )
    return f"<!DOCTYPE html>\n{element('html', _head(title, script), body, lang='en')}\n"


def _head(title: str, script: str) -> Html:
    style = _shipped("report.css")
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} - maxcode"),
        element("style", raw(style)),
    )


def _policy(style: str, script: str) -> str:
    """Allows no loading, and only this style and this script, by hash."""
    allowed = [("style-src", style), ("script-src", script)]
    hashes = (f"{kind} '{_hash(text)}'" for kind, text in allowed if text)
    return "; ".join(["default-src 'none'", *hashes, "base-uri 'none'", "form-action 'none'"])


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _shipped(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _header(run: RunView) -> Html:
    found, more = verdict(run), progress(run)
    return element(
        "header",
        element("h1", run.problem_id),
        element("p", found.headline, class_=f"headline {found.kind}"),
        element("p", found.sentence, class_="sentence"),
        *([element("p", more, class_="unfinished")] if more else []),
        spent(run),
    )


def _sections(run: RunView) -> list[Part | None]:
    """All sections; the candidates, which may be many, get the space that the others leave."""
    before: list[Part | None] = [
        ("curve", "Best so far", curve_section(run)) if any(slot.timing for slot in run.slots) else None,
    ]
    after: list[Part | None] = [
        ("change", "What changed", _change(run, run.winner)) if run.winner else None,
        ("samples", "How certain it is", samples_section(run)) if run.winner else None,
        ("trust", "What to trust", trust_section(run)),
        ("certificate", "Certificate", _certificate(run)) if run.claim and run.winner else None,
        ("elites", "Elites", elites_section(run)) if run.has_rates else None,
        ("run", "The run", run_facts(run)),
        ("notes", "Notes", _notes(run)) if run.notes else None,
    ]
    if not run.slots:
        return [*before, *after]
    room = MOST - sum(len(part[2].encode()) for part in (*before, *after) if part is not None)
    return [*before, ("candidates", "Candidates", candidates_section(run, room)), *after]


def _certificate(run: RunView) -> Html:
    assert run.claim is not None
    assert run.winner is not None
    return certificate_section(run.claim, run.winner.program, run.folder.resolve())


def _section(anchor: str, title: str, content: Html) -> Html:
    return element(
        "section", element("h2", title, id=f"{anchor}-title"), content, id=anchor, aria_labelledby=f"{anchor}-title"
    )


def _change(run: RunView, best: Winner) -> Html:
    files = len(best.program.files)
    if not run.original.files:
        told = paragraphs("The run folder has no copy of the original, so the difference cannot be shown.")
    else:
        told = program_diff(run.original, best.program, DiffStyle(run.language, most=MOST_BYTES // files))
    return join(
        [
            applied_steps(run),
            *([paragraphs("Changes of the candidate that do not pay were left out.")] if best.is_smaller else []),
            told,
            *(_whole(run, path, text, PROGRAM_BYTES // files) for path, text in best.program.files.items()),
        ]
    )


def _whole(run: RunView, path: str, text: str, most: int) -> Html:
    return details(f"The whole best program: {path}", whole(path, text, run.language, most))


def _notes(run: RunView) -> Html:
    return element("ul", *(element("li", note, class_="said") for note in run.notes))
