"""Which file of a program of several files is edited: that in which the original spends its time.

The first source is the one that policies edit.  Where the profile of the original points to another source, that one
becomes the first, and the run's certificate and ``run.toml`` name it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from maxcode.code.languages import language
from maxcode.core.types import Hotspot, Problem
from maxcode.evaluate.target import Target
from maxcode.run.admission import Admission, Watch, admit
from maxcode.run.complete_request import CompleteRequest, completed
from maxcode.run.deadline import Deadline
from maxcode.run.given_candidate import GIVEN_FILE
from maxcode.run.record import read_header

EDIT = "edit"  # the key in overrides and in run.toml
LEAST_SHARE = 0.2  # of the samples: a source with less of them is not worth a choice


def admit_hottest(
    job: CompleteRequest, target: Target, say: Callable[[str], None], deadline: Deadline
) -> tuple[CompleteRequest, Admission]:
    """Admits the problem of a job with the file first that is edited.  A resumed run edits the file of before.

    ``say`` is told how far it is.  InputError as soon as it cannot end within the cap on seconds, or by ``deadline``.
    """
    header = read_header(job.folder)
    if EDIT in header and EDIT not in job.request.overrides:
        job = _editing(job, str(header[EDIT]))
    watch = partial(Watch, say, job.request.caps.seconds, deadline)
    admission = admit(job.loaded, target, not job.request.cluster, watch())
    if header or EDIT in job.request.overrides or job.request.policy.startswith(GIVEN_FILE):
        return job, admission
    chosen = hottest(job.loaded.problem, admission.admitted.baseline.profile)
    recipe = job.loaded.recipe
    if not chosen or recipe is None or recipe.is_chosen:
        return job, admission
    job = _editing(job, chosen)
    return job, admit(job.loaded, target, not job.request.cluster, watch())


def hottest(problem: Problem, profile: Sequence[Hotspot]) -> str:
    """The source, other than the first, with the largest share of the samples; empty if the first has it."""
    shares: dict[str, float] = defaultdict(float)
    for spot in profile:
        name = spot.file or (problem.program.name if spot.line else "")
        if name.endswith(language(problem.language).suffixes):
            shares[name] += spot.share
    found = max(shares, key=lambda name: shares[name], default="")
    return found if found != problem.program.name and shares.get(found, 0.0) >= LEAST_SHARE else ""


def _editing(job: CompleteRequest, name: str) -> CompleteRequest:
    """The job with this file as the one that is edited."""
    overrides = {**job.request.overrides, EDIT: name}
    return completed(replace(job.request, out=job.folder, overrides=overrides))
