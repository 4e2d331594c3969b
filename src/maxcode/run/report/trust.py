"""The section "What to trust": the machine, the isolation of candidates, and the checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from maxcode.core.types import Node
from maxcode.core.wording import number_of
from maxcode.run.report.certified import FILE, control
from maxcode.run.report.facts import show
from maxcode.run.report.headline import CLOCKS, best_timing
from maxcode.run.report.html import Html, clip, element, join
from maxcode.run.report.run_view import RunView

_TESTS = {
    "seen": "seen by the policy",
    "held_out": "held out: the policy learns only whether they pass",
    "generated": "made by the generator, also held out",
    "made": "generated from the given tests, also held out",
    "dropped": "dropped: the original does not pass them reliably",
}
_UNSAID = "the record does not say"


def trust_section(run: RunView) -> Html:
    """The panel of machine and trust; it says so if the record does not hold a fact."""
    pairs = (element("div", element("dt", label), element("dd", value)) for label, value in _facts(run))
    return element("dl", *pairs, class_="trust")


def _facts(run: RunView) -> Iterator[tuple[str, str]]:
    yield "Sandbox", show(run.header.get("sandbox", _UNSAID))
    yield "Tests", _tests(run.header.get("tests"))
    yield "Machine", _machine(run.header.get("machine"))
    if nodes := _nodes(run):
        yield "Measured on", nodes
    yield "Best timed by", _clock(run)
    yield "Control", _control(run)
    yield "Warnings", _warnings(run)
    yield "Certificate", _link(run)


def _tests(found: object) -> Html:
    if not isinstance(found, Mapping) or not found:
        return show(found or _UNSAID)
    told = [f"{count} {_TESTS.get(str(sort), str(sort))}" for sort, count in found.items() if count != 0]
    return _listed(told or ["none"])


def _machine(found: object) -> Html:
    if not isinstance(found, Mapping):
        return show(found or _UNSAID)
    cores = f"{found['cores']} cores" if "cores" in found else ""
    parts = [str(found[key]) for key in ("node", "cpu", "kernel") if key in found]
    return join([", ".join([*parts, cores] if cores else parts) or _UNSAID])


def _nodes(run: RunView) -> str:
    """The benchmark nodes of a cluster, with the number of their candidates and their stability; empty without one."""
    found: dict[str, list[Node]] = {}
    for slot in run.slots:
        if slot.evaluation is not None and slot.evaluation.node is not None:
            found.setdefault(slot.evaluation.node.name, []).append(slot.evaluation.node)
    return _listed([_node(stamps) for _, stamps in sorted(found.items())]) if found else ""


def _node(stamps: Sequence[Node]) -> str:
    last = stamps[-1]
    shared = sum(one.shared for one in stamps)
    took = [1e3 * one.calibration.value for one in stamps if one.calibration is not None]
    parts = [f"{last.name}: {number_of(len(stamps), 'candidate')}", last.cpu, last.compiler]
    parts += [f"calibration {min(took):.1f} to {max(took):.1f} ms"] if took else []
    parts += [f"cores used by others for at most {max(max(one.busy) for one in stamps):.0f} %"]
    parts += [f"{shared} of them on SHARED cores"] if shared else []
    return ", ".join(parts)


def _clock(run: RunView) -> str:
    timing = best_timing(run)
    if timing is None:
        return "nothing was confirmed"
    found = f"{CLOCKS[timing.clock]}, {number_of(timing.pairs, 'fresh pair')}, {number_of(len(timing.inputs), 'input')}"
    busy = f"; a task waited for a processor {timing.pressure:.0f} % of the time" if timing.pressure is not None else ""
    return f"{found}{busy}"


def _control(run: RunView) -> str:
    found = control(run.claim) if run.claim is not None else ""
    return found or "none in this folder: only a certificate times the original against itself"


def _warnings(run: RunView) -> Html:
    said = [*(run.winner.evaluation.warnings if run.winner else ()), *(run.claim.warnings if run.claim else ())]
    said += [f"do not trust it: {doubt}" for doubt in run.claim.doubts] if run.claim else []
    return _listed([clip(one, 2_000) for one in dict.fromkeys(said)] or ["none on the best candidate"])


def _link(run: RunView) -> Html:
    if run.claim is None:
        return join(["none in this folder"])
    return element("a", FILE, href=FILE)


def _listed(told: list[str]) -> Html:
    return join([told[0]]) if len(told) == 1 else element("ul", *(element("li", one) for one in told))
