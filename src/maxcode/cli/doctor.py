"""``maxcode doctor``: checks whether this machine can run maxcode, and names what is missing."""

from __future__ import annotations

import dataclasses
import json

import anyio
import click

from maxcode.cli.common import as_json, sandbox_options
from maxcode.cli.terminal import echo, echo_json
from maxcode.core.stats import half_width
from maxcode.errors import UnsafeError
from maxcode.evaluate.doctor import Checkup, checkup
from maxcode.evaluate.machine.machine import BUSY


@click.command()
@sandbox_options
@as_json
def doctor(json_: bool) -> None:
    """Check compilers, the sandbox, control groups, the clock's noise and cores; print what to install."""
    found = anyio.run(checkup)
    if json_:
        echo_json(json.dumps(dataclasses.asdict(found)))
    else:
        echo("\n".join(_lines(found)))
    if not found.is_safe:
        raise UnsafeError("this machine cannot run untrusted programs safely; see above")


def _lines(found: Checkup) -> list[str]:
    machine = found.machine
    lines = [f"machine    {machine.cpu}, {machine.cores} cores, {machine.kernel}"]
    lines += [f"compiler   {name}: {version}" for name, version in machine.compilers.items()]
    lines.append(f"sandbox    {machine.sandbox}")
    for why in found.passed_over:
        lines += [f"{'' if at else 'not used':<10} {line}" for at, line in enumerate(why.splitlines())]
    lines.append(f"cgroup     {found.groups}")
    lines.append(f"valgrind   {found.no_counter or _COUNTS}")
    if found.findings:
        held = sum(finding.held for finding in found.findings)
        lines.append(f"self-test  {held} of {len(found.findings)} attacks blocked")
    lines += [f"TROUBLE    {trouble}" for trouble in found.trouble]
    if found.noise is not None:
        width = half_width(found.noise)
        lines.append(
            f"clock      a program against itself: {found.noise} (±{width:.1%} after 15 pairs; the true ratio is 1)"
        )
    if found.pressure is not None:
        advice = "; timing needs more pairs: stop other programs" if found.pressure >= BUSY else ""
        lines.append(f"load       CPU pressure {found.pressure:.0f} % in the last 10 s{advice}")
    if found.missing:
        lines.append(f"install    sudo apt-get install {' '.join(dict.fromkeys(found.missing))}")
    return lines


_COUNTS = "instructions can be counted (--goal instructions, --tie-break instructions)"
