"""The built-in critic: fixed rules that turn errors, failing tests, remarks and the profile into a short diagnosis.

It names lines (``line N``) and topics (input, allocation, copy, map lookup, ...), so that a policy can use them.  It
has no model and guesses nothing: if no rule applies, it reports what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from maxcode.core.types import Evaluation, Hotspot, Outcome, Problem, Program, Remark, Step, Timing
from maxcode.observe.critique.critique_answer import Bottleneck
from maxcode.observe.feedback import are_alike, machine_lines

ERROR = re.compile(r"^(?:/src/)?([^:\n]+):(\d{1,9}):\d+: (?:fatal )?error: (.*)$", re.MULTILINE)
_SHOWN_SHARE = 0.05
_SHOWN_SPOTS = 4
SAMPLES_LEAST = 10
_NEAR_LINES = 2  # a remark this close to a hot line belongs to it


@final
@dataclass(frozen=True, slots=True)
class Topic:
    """``bottleneck``: its class; ``where``: names of functions or source text of this topic; ``advice``: what usually
    helps."""

    bottleneck: Bottleneck
    where: str
    advice: str


TOPICS = (
    Topic("algorithm", r"\bstrlen\s*\(",
          "the length is computed again and again: hoist strlen out of the loop condition"),
    Topic("input-output", r"\bendl\b|\bflush\b",
          "output is flushed for every line: write '\\n' and flush once at the end"),
    Topic("input-output", r"\bcin\b|\bscanf\b|\bgetline\b|istream|num_get|_IO_.*scanf|getchar",
          "input parsing: buffered input"),
    Topic("input-output", r"\bcout\b|\bprintf\b|\bputs\b|ostream|num_put|vfprintf|putchar",
          "output formatting: buffered output"),
    Topic("data-structure", r"_Rb_tree|\bstd::map\b|\bmap<|\bset<|multiset",
          "ordered map lookup: a hash map, or a sorted vector"),
    Topic("data-structure", r"_Hashtable|unordered_",
          "hash map lookup: reserve, a better hash, or an array for small keys"),
    Topic("allocation", r"\bmalloc\b|\bfree\b|operator new|_int_malloc|\bnew\b|push_back|emplace_back|realloc",
          "memory allocation: is it needed at all? else reserve, or reuse buffers"),
    Topic("algorithm", r"introsort|__sort|\bsort\s*\(|insertion_sort|adjust_heap",
          "sort: sort less, or radix sort for integers"),
    Topic("allocation", r"basic_string|_M_append|\bstring\b.*\+",
          "string copy: append in place, reserve, pass by reference"),
    Topic("allocation", r"memcpy|memmove|_M_assign|vector\(const|uninitialized_copy",
          "copy of a container: pass by reference"),
    Topic("arithmetic", r"\bpow\s*\(|\bsqrt\s*\(|\bexp\s*\(|\blog\s*\(|\bsin\s*\(|\bcos\s*\(",
          "a math library call in a hot place: hoist it, or use cheaper arithmetic"),
    Topic("arithmetic", r"%|__umod|__mod",
          "modulo or division: strength reduction, or a 32-bit fast path"),
    Topic("memory-latency", r"\[[^\]]*\]\s*\[[^\]]*\]",
          "nested array access: mind the loop order (stride 1 innermost), tile, flatten"),
    Topic("vectorisation", r"\bfor\b|\bwhile\b|\+=",
          "loop: unroll, vectorise, keep the accumulator in a local variable"),
)  # fmt: skip

# Operators of torch, with the names of its profiler -> what usually helps.
_OPERATOR = ("aten::", "outside of torch")
OPERATORS = tuple(
    (re.compile(where), advice)
    for where, advice in (
        (
            r"outside of torch",
            "what is left is in native code or Python: its loops, its memory traffic and the number of its calls",
        ),
        (
            r"convolution",
            "convolution: channels last may suit the library better, or write it for this shape; fuse what follows",
        ),
        (
            r"::(?:addmm|mm|bmm|baddbmm|matmul|linear)",
            "matrix product: use algebra (sum the weights in place of the outputs, put factors inside), fuse what "
            "follows it, or write it for this shape",
        ),
        (r"copy_|clone|contiguous|cat", "copy of a tensor: keep one memory order, drop clones that nobody writes to"),
        (r"pool", "pooling: a loop of our own, columns before rows, without the places of the maxima"),
        (
            r"softmax|logsumexp|sum|mean|max|min|norm|var",
            "reduction: one pass over memory for each row, with what comes before it",
        ),
        (r"empty|resize|fill|zero", "memory allocation: write over results that nobody needs any more"),
        (
            r"aten::\w+",
            "elementwise arithmetic, memory-bound: do the whole chain in one pass, in one kernel or loop of your own",
        ),
    )
)

_SIGNALS = {
    "SIGSEGV": "an index out of bounds, a stale reference, or a recursion too deep",
    "SIGABRT": "a failed assertion, an uncaught exception or damaged memory",
    "SIGFPE": "a division by zero",
    "SIGILL": "an instruction this machine lacks: check the target flags",
    "SIGKILL": "too much memory",
    "SIGXCPU": "too much CPU time",
}


@final
@dataclass(frozen=True, slots=True)
class RuleCritic:
    """Errors, failing tests against the previous step, then profile and remarks; at most ``lines`` lines."""

    lines: int = 10

    async def critique(self, problem: Problem, step: Step, previous: Step | None) -> str:
        evaluation = step.evaluation
        match evaluation.outcome:
            case Outcome.UNPARSED | Outcome.REJECTED:
                told = [f"Not run: {'; '.join(evaluation.feedback.reasons)}."]
            case Outcome.UNBUILT:
                told = _build_errors(evaluation)
            case Outcome.CORRECT:
                program = step.action.program or problem.program
                told = [_compared(step, previous), *diagnose(program, evaluation)]
            case _:
                told = _failures(evaluation, previous)
        return "\n".join(line for line in told[: self.lines] if line)


def diagnose(program: Program, evaluation: Evaluation) -> list[str]:
    """The hot lines of a correct program, each with the compiler's remarks on it and what usually helps; without them,
    what its busiest loop does by its machine code."""
    spots = hot_lines(evaluation.profile)
    if not spots:
        return [*machine_lines(evaluation.machine_code), *_kernel_lines(evaluation.remarks)]
    source = program.files[program.name].split("\n")
    told = []
    for spot in spots[:_SHOWN_SPOTS]:
        if spot.function.startswith(_OPERATOR):
            told += _operator_lines(spot)
            continue
        text = source[spot.line - 1].strip() if 0 < spot.line <= len(source) else ""
        if not text:
            told.append(f"{share_of(spot)} of the time is spent {outside(spot.function)}.")
            continue
        told.append(f"{share_of(spot)} of the time is spent at line {spot.line} ({spot.function}): `{text[:90]}`")
        if (topic := topic_of(spot.function, text)) is not None:
            told.append(f"  {topic.advice}.")
        told += _remarks_at(evaluation.remarks, spot.line)
    return told + _kernel_lines(evaluation.remarks)


def _kernel_lines(remarks: Sequence[Remark]) -> list[str]:
    """The resources of GPU kernels, those that spill registers first."""
    own = sorted((one for one in remarks if one.text.startswith("kernel `")), key=lambda one: one.kind != "missed")
    told = [f"{one.text[:200]}." for one in own[:3]]
    spilled = any(one.kind == "missed" for one in own)
    return [*told, "  Spills go to memory: fewer values alive at once, or smaller blocks."] if spilled else told


def _operator_lines(spot: Hotspot) -> list[str]:
    """The time of an operator of torch, and what usually helps."""
    advice = next((advice for where, advice in OPERATORS if where.search(spot.function)), "")
    where = f"in {spot.function}" if spot.function.startswith("aten::") else spot.function
    told = [f"{spot.share:.0%} of the time is spent {where}."]
    return [*told, f"  {advice}."] if advice else told


def hot_lines(profile: Sequence[Hotspot]) -> list[Hotspot]:
    """One spot per line, or per operator of torch, the largest share first.  Small shares are left out, and lines with
    fewer than ten samples, which say nothing.  Time outside of the program's lines is one spot for each library."""
    shares: dict[tuple[int, str], list[Hotspot]] = {}
    for spot in profile:
        whose = spot.function if spot.line == 0 or spot.function.startswith(_OPERATOR) else ""
        shares.setdefault((spot.line, whose), []).append(spot)
    merged = []
    for place, spots in shares.items():
        largest = max(spots, key=lambda spot: spot.share)
        share, samples = sum(spot.share for spot in spots), sum(spot.samples for spot in spots)
        merged.append(Hotspot(largest.function, place[0], share, samples))
    kept = [
        spot for spot in merged if spot.share >= _SHOWN_SHARE and (not spot.samples or spot.samples >= SAMPLES_LEAST)
    ]
    return sorted(kept, key=lambda spot: -spot.share)


def share_of(spot: Hotspot) -> str:
    """The share of a spot with its samples, if they are known."""
    return f"{spot.share:.0%} ({spot.samples} samples)" if spot.samples else f"{spot.share:.0%}"


def outside(function: str) -> str:
    """Where time is spent that belongs to no line of the program."""
    if function.startswith(("ld-linux", "ld-musl")):
        return f"outside your program, in the dynamic loader ({function}), before main"
    return f"in {function}, at no line of the program"


def topic_of(function: str, text: str) -> Topic | None:
    """The first topic that matches the function's name, or else the first that matches the line; None if no topic
    matches."""
    for told in (function, text):
        for topic in TOPICS:
            if re.search(topic.where, told):
                return topic
    return None


def _remarks_at(remarks: Sequence[Remark], line: int) -> list[str]:
    """The compiler's remarks on the loop at ``line``: missed optimisations first, two at most."""
    near = [remark for remark in remarks if abs(remark.line - line) <= _NEAR_LINES]
    near.sort(key=lambda remark: (remark.kind != "missed", abs(remark.line - line)))
    return [f"  compiler, line {remark.line}: {remark.kind}: {remark.text[:120]}" for remark in near[:2]]


def _compared(step: Step, previous: Step | None) -> str:
    timing = step.evaluation.timing
    if timing is None:
        return f"Correct, but not timed: {'; '.join(step.evaluation.warnings)}"
    sure = "" if timing.significant else ", but not measurably faster than the original"
    return f"Correct{sure}{_change(timing, previous)}."


def _change(timing: Timing, previous: Step | None) -> str:
    """Whether it is faster than the step before.  The figures are left to the feedback: a later confirmation replaces
    them there, but not in a critique."""
    before = previous.evaluation.timing if previous is not None else None
    if before is None:
        return ""
    if are_alike(timing, before):
        return "; not distinguishable from the previous step"
    if timing.speedup.value > before.speedup.value:
        return "; faster than the previous step"
    return "; slower than the previous step: this step did not pay, go back"


def _build_errors(evaluation: Evaluation) -> list[str]:
    errors = ERROR.findall(evaluation.feedback.diagnostics)
    if not errors:
        return [f"Does not build: {'; '.join(evaluation.feedback.reasons)}"]
    told = [f"Does not build: line {line}: {message}" for _, line, message in errors[:3]]
    return [*told, "Undo the change at these lines, or mend the types there."]


def _failures(evaluation: Evaluation, previous: Step | None) -> list[str]:
    failing = [case for case in evaluation.feedback.cases if case.outcome is not Outcome.CORRECT]
    told = [f"Test {case.name} {case.outcome.value}: {case.detail}" for case in failing if case.seen][:3]
    hidden = sum(1 for case in failing if not case.seen)
    if hidden:
        told.append(f"{hidden} held-out test(s) failed: the change is not valid for all inputs.")
    told += list(evaluation.feedback.reasons) if not told else []
    for name, cause in _SIGNALS.items():
        if any(name in line for line in told):
            told.append(f"{name} usually means {cause}.")
    if previous is not None and previous.evaluation.outcome is Outcome.CORRECT:
        told.append("The previous step passed these tests: what was changed since is to blame.")
    if evaluation.outcome is Outcome.TIMEOUT:
        told.append("Too slow to finish: a loop that does not end, or a far worse algorithm.")
    return told
