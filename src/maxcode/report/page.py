"""``write_report``: the sections of the page, in the order in which a reader asks.

What came of it, how it got there, what changed, how sure it is, what was tried, and where the numbers come from.
The page is one file without scripts or addresses, but for a link to the certificate beside it; its policy forbids the
browser to load or run anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from maxcode.errors import InputError
from maxcode.report.candidates import candidate_table, outcome_counts
from maxcode.report.certified import certificate_section
from maxcode.report.diff import program_diff
from maxcode.report.elites import elites_section
from maxcode.report.evidence import curve_section, samples_section
from maxcode.report.facts import run_facts
from maxcode.report.html import Html, clip, details, element, join, paragraphs, raw, scrolled
from maxcode.report.run import RunView, read_run
from maxcode.report.verdict import progress, verdict

Part = tuple[str, str, Html]

NAME = "report.html"
PROGRAM_BYTES = 150_000
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def write_report(folder: Path) -> Path:
    """Write ``report.html`` into a run folder, finished or not, and return its path.

    Raises InputError when the folder is not a run, or cannot be read or written; a report that was there before then
    stays as it was.
    """
    text = page(read_run(folder))
    path = folder / NAME
    scratch = path.with_suffix(".new")
    try:
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(path)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise InputError(f"cannot write {path}: {error.strerror}; make room there, or copy the run folder") from error
    return path


def page(run: RunView) -> str:
    """The whole page."""
    title = f"{run.problem_id}: {verdict(run).headline}"
    footer = f"Written by maxcode from the record in {run.folder.resolve().name}."
    return laid_out(title, _header(run), [part for part in _sections(run) if part is not None], footer)


def laid_out(title: str, header: Html, sections: Sequence[Part], footer: str) -> str:
    """A page of sections (anchor, title, content), in the style and under the policy of all our pages."""
    links = [element("li", element("a", name, href=f"#{anchor}")) for anchor, name, _ in sections]
    body = element(
        "body",
        element("a", "Skip to the content", href="#content", class_="skip"),
        header,
        element("nav", element("ul", *links), aria_label="Sections"),
        element("main", *(_section(*part) for part in sections), id="content"),
        element("footer", element("p", footer)),
    )
    return f"<!DOCTYPE html>\n{element('html', _head(title), body, lang='en')}\n"


def _head(title: str) -> Html:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} - maxcode"),
        element("style", raw(resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8"))),
    )


def _header(run: RunView) -> Html:
    found, more = verdict(run), progress(run)
    return element(
        "header",
        element("h1", run.problem_id),
        element("p", found.headline, class_=f"headline {found.kind}"),
        element("p", found.sentence, class_="sentence"),
        *([element("p", more, class_="unfinished")] if more else []),
    )


def _sections(run: RunView) -> list[Part | None]:
    return [
        ("curve", "Best so far", curve_section(run)) if any(slot.timing for slot in run.slots) else None,
        ("change", "What changed", _change(run)) if run.reached.best else None,
        ("samples", "How sure it is", samples_section(run)) if run.reached.best else None,
        ("certificate", "Certificate", _certificate(run)) if run.claim and run.reached.best else None,
        ("elites", "Elites", elites_section(run)) if run.has_rates else None,
        ("candidates", "Candidates", _candidates(run)) if run.slots else None,
        ("run", "The run", run_facts(run)),
        ("notes", "Notes", _notes(run)) if run.notes else None,
    ]


def _certificate(run: RunView) -> Html:
    assert run.claim is not None
    assert run.reached.best is not None
    return certificate_section(run.claim, run.reached.best.program)


def _section(anchor: str, title: str, content: Html) -> Html:
    return element(
        "section", element("h2", title, id=f"{anchor}-title"), content, id=anchor, aria_labelledby=f"{anchor}-title"
    )


def _change(run: RunView) -> Html:
    best = run.reached.best
    assert best is not None
    if not run.original.files:
        told = paragraphs("The run folder has no copy of the original, so the difference cannot be shown.")
    else:
        told = program_diff(run.original, best.program)
    return join([told, *(_whole(path, text) for path, text in best.program.files.items())])


def _whole(path: str, text: str) -> Html:
    shown = element("pre", element("code", clip(text, PROGRAM_BYTES)))
    return details(f"The whole best program: {path}", scrolled(f"Text of {path}", shown, class_="code"))


def _candidates(run: RunView) -> Html:
    return join([outcome_counts(run), element("p", _LEGEND, class_="explained"), candidate_table(run)])


_LEGEND = (
    "Ids are batch:slot. Speed-ups are ratios to the original with their interval. Significant: the race says that it "
    "is faster. Confirmed: measured again on fresh pairs after it was selected. Refuted: fresh pairs did not bear it "
    "out. Beaten: its race was ended because it could not become the best. Waits: less CPU "
    "time, but more by the wall clock. Busy: too many others wanted the cores for its wall time to count. Unseen: "
    "fewer instructions, which its CPU time does not show. Not settled: its batch is not final."
)


def _notes(run: RunView) -> Html:
    return element("ul", *(element("li", note, class_="said") for note in run.notes))
