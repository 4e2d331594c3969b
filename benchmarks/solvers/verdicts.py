"""Verdicts of algotune.py: what the answer of ``maxcode evaluate --json`` says of a published solver, and the table."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from maxcode.evaluate.machine.machine import BUSY_STAMP

Row = dict[str, Any]

VERDICTS = ("confirmed", "in doubt", "not faster", "wrong", "refused", "not measurable")
OF_OUTCOMES = {"wrong": "wrong", "crashed": "wrong", "timeout": "not faster", "rejected": "refused"}
# words of the judge's reasons: its rules on what a result is and holds; limits of its sandbox
RULES = (
    "cannot be compared as a caller would see it", "cannot be read as a caller would", "its result holds",
    "may come in a round", "its results are too large", "it gave no results, or more than",
)  # fmt: skip
LIMITS = re.compile(r"signal 9\b|\b(MemoryError|OSError|PermissionError|FileNotFoundError|BlockingIOError)\b")
MOST_WHY = 400  # characters


def read(stdout: str, stderr: str) -> Row:
    """Verdict, reasons and interval from the answer of ``maxcode evaluate --json``."""
    try:
        table = json.loads(stdout)
    except ValueError:
        said = stderr.strip().splitlines() or ["no answer"]
        return {"verdict": "not measurable", "why": said[-1][:MOST_WHY]}
    result = table.get("result", table)
    speedup, outcome = result.get("speedup"), str(result.get("outcome", ""))
    why = reasons_of(result)
    found: Row = {"outcome": outcome, "why": why[:MOST_WHY], "doubts": result.get("doubts", [])}
    if isinstance(speedup, dict):
        found["speedup"] = [round(speedup[key], 4) for key in ("value", "low", "high")]
    return found | {"verdict": verdict(outcome, result)}


def verdict(outcome: str, result: Mapping[str, Any]) -> str:
    """One of ``VERDICTS``.  "confirmed" of the JSON says that it was timed on fresh pairs, not that it won on them."""
    if outcome in ("wrong", "crashed"):
        why = reasons_of(result)
        return "refused" if any(one in why for one in RULES) else "not measurable" if LIMITS.search(why) else "wrong"
    if outcome != "correct":
        return OF_OUTCOMES.get(outcome, "not measurable")
    if result.get("trusted"):
        return "confirmed"
    speedup = result.get("speedup")
    if speedup is None:
        return "not measurable"
    if BUSY_STAMP in reasons_of(result) and not speedup["significant"] and speedup["high"] > 1:
        return "not measurable"
    return "in doubt" if result.get("doubts") and speedup["significant"] else "not faster"


def reasons_of(result: Mapping[str, Any]) -> str:
    return " ".join(str(one) for one in (result.get("reasons") or [result.get("why") or ""])[:2])


def line(row: Row) -> str:
    """One row for people."""
    found = "[{1}, {2}] {0}x".format(*row["speedup"]) if "speedup" in row else ""
    told = f"claimed {row['claimed']}" if row["claimed"] is not None else "nothing claimed"
    return f"{row['task']:32} {row['model']:22} {told:18} {row['verdict']:15} {found} {row.get('why', '')[:90]}"


def report(rows: Iterable[Row]) -> str:
    """The table by model, and the counts."""
    rows = list(rows)
    lines = [
        "| model | solvers | " + " | ".join(VERDICTS) + " | claimed, certified (geometric means of the confirmed) |"
    ]
    lines.append("|---" * (len(VERDICTS) + 3) + "|")
    for model in sorted({row["model"] for row in rows}):
        lines.append(cells(model, [row for row in rows if row["model"] == model]))
    if rows:
        lines.append(cells("all", rows))
    return "\n".join(lines)


def cells(name: str, rows: Sequence[Row]) -> str:
    """One line of the table."""
    counts = Counter(row["verdict"] for row in rows)
    both = [row for row in rows if row["verdict"] == "confirmed" and row["claimed"]]
    means = [geometric([row["claimed"] for row in both]), geometric([row["speedup"][0] for row in both])]
    told = f"{means[0]:.2f}, {means[1]:.2f} ({len(both)})" if both else "-"
    return f"| {name} | {len(rows)} | " + " | ".join(str(counts[one]) for one in VERDICTS) + f" | {told} |"


def by_task(rows: Iterable[Row]) -> str:
    """Every pair of a task and a model: what was claimed, and what was found."""
    found = {(row["task"], row["model"]): row for row in rows}
    models = sorted({model for _, model in found})
    lines = ["| task | " + " | ".join(models) + " |", "|---" * (len(models) + 1) + "|"]
    for task in dict.fromkeys(task for task, _ in found):
        lines.append(f"| {task} | " + " | ".join(cell(found.get((task, model))) for model in models) + " |")
    return "\n".join(lines)


def cell(row: Row | None) -> str:
    """One pair: ``3.91: 3.21 [3.15, 3.28]``, or the verdict in place of a speed-up that is not confirmed."""
    if row is None:
        return ""
    said = f"{row['claimed']:.2f}" if row["claimed"] is not None else "none"
    found = "**{:.2f}** [{:.2f}, {:.2f}]".format(*row["speedup"]) if row["verdict"] == "confirmed" else row["verdict"]
    return f"{said}: {found}"


def geometric(values: Sequence[float]) -> float:
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else math.nan
