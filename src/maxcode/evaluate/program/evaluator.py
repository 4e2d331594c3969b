"""The evaluator of the kinds ``program`` and ``function``, composed from the ladder's steps.

    reject -> build -> verify -> time

It has two roles on one machine.  ``Evaluator``: evaluates candidates, for search and training alike.  ``Referee``: at
the end of a batch, chooses the incumbent on fresh pairs and fresh builds.  It limits its own concurrency
(``sandbox/lanes.py``) and caches builds and samples, never verdicts; programs that compile to the same share samples.
What differs between the two kinds is in ``kinds.py``, in the workload of an input, and in the source of inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import final

from maxcode.core.ahead import started
from maxcode.core.phases import in_stage
from maxcode.core.stats import RaceRule
from maxcode.core.turns import Turns
from maxcode.core.types import (
    Action,
    Evaluation,
    Machine,
    MachineCode,
    Outcome,
    Problem,
    Program,
    State,
    StateId,
    Timing,
)
from maxcode.evaluate.harness_protocol import FreshRace, HarnessTerms, MeasureOptions, Provenance, TimingCache
from maxcode.evaluate.inputs.fresh import FreshInputs
from maxcode.evaluate.inputs.proving import GeneratedInputs, Prover
from maxcode.evaluate.ladder.build import Builder, Built
from maxcode.evaluate.ladder.interpreter import named
from maxcode.evaluate.ladder.judge import ladder_of, unbuilt, with_timing, wrong_while_timed
from maxcode.evaluate.ladder.kept_admissions import KeptAdmissions
from maxcode.evaluate.ladder.leader import last_standing
from maxcode.evaluate.ladder.prepare import Admitted, build_original, identity, unadmitted
from maxcode.evaluate.ladder.profile import hotspots
from maxcode.evaluate.ladder.race import RaceInputs, RaceSide, Side, WrongOutput
from maxcode.evaluate.ladder.reject import not_permitted, reject
from maxcode.evaluate.ladder.timing import confirm, playoff, race, remember, ruled, unraced
from maxcode.evaluate.ladder.unwritten import chosen, depends, refusal
from maxcode.evaluate.ladder.verify import Verified, verify
from maxcode.evaluate.program.admission import Admissions
from maxcode.evaluate.program.early import EarlyLooks, FreshAhead
from maxcode.evaluate.program.plausibility import Examiner, failed_with
from maxcode.evaluate.program.winner_check import ProgramCheck
from maxcode.sandbox.lanes import also_in_timing_lane, build_lane, several_places, timing_lane
from maxcode.sandbox.sandbox import Blob, Sandbox
from maxcode.sandbox.selftest import open_safe

PLAYOFF_PAIRS = 15  # a near tie of two programs faster than the original is not worth more pairs
PARALLEL = 1.05  # more CPU seconds than wall seconds, by this factor, need several cores


@final
class ProgramEvaluator:
    """Evaluates candidates of admitted problems.  One per process; search and training share it.

    Trusts the kernel, bubblewrap, the shim (pid 1 of every session) and this process.  Trusts no code compiled from a
    candidate, and none of its output.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        builder: Builder,
        rule: RaceRule = RaceRule(),  # noqa: B008
        terms: HarnessTerms = HarnessTerms(),  # noqa: B008
        kept: KeptAdmissions = KeptAdmissions(),  # noqa: B008
    ) -> None:
        """``kept``: admissions that earlier commands have kept.

        With ``terms.single`` the only build is the final one, without precompiled headers, nothing is found out for
        prompts, no candidate is profiled, and an evident gain is confirmed after two pairs.
        """
        self._unseen = FreshInputs(sandbox, builder, terms.seed, terms.before)
        self._examiner = Examiner(sandbox, builder, self._unseen)
        self._sandbox = sandbox
        self._builder = builder
        self._terms = terms
        self._rule = replace(rule, evident=rule.gross) if terms.single else rule
        self._profiles = not terms.single
        self._remembers = True
        self._short = replace(rule, most=PLAYOFF_PAIRS)
        self._admissions = Admissions(sandbox, builder, self._unseen.seed, prompts=not terms.single, kept=kept)
        self._early = EarlyLooks(sandbox)
        self._ahead: FreshAhead | None = None
        self._timings: dict[str, Timing] = {}
        self._confirmations: dict[str, Timing] = {}
        self._racing = Turns()
        self._leaving: dict[str, bool] = {}

    @property
    def sandbox(self) -> str:
        """The sandbox tier as text; part of every result."""
        return self._sandbox.describe()

    @property
    def seed(self) -> int:
        """The seed of the fresh inputs."""
        return self._unseen.seed

    def measuring(self, options: MeasureOptions) -> ProgramEvaluator:
        """Another evaluator on the same admissions that measures with these options."""
        rule = replace(self._rule, most=options.pairs) if options.pairs else self._rule
        other = ProgramEvaluator(self._sandbox, self._builder, rule, self._terms)
        other._admissions, other._unseen, other._examiner = self._admissions, self._unseen, self._examiner
        other._profiles = other._profiles and options.profiles
        other._remembers = options.remembers
        return other

    def remembered(self) -> TimingCache:
        """The cache of earlier races and confirmations."""
        return TimingCache(dict(self._timings), dict(self._confirmations))

    def forget_since(self, then: TimingCache) -> None:
        """Return to this cache: measurements made since then are not reliable."""
        self._timings, self._confirmations = dict(then.timings), dict(then.confirmations)

    def give(self, problem: Problem, program: Program, built: Built) -> None:
        """Use a build that another worker made."""
        self._builder.give(problem, program, built)

    # ---------------------------------------------------------------------------------------------- certificates

    def provenance(self, admitted: Admitted, machine: Machine) -> Provenance:
        """The inputs, the compiler, and the seeds of generated inputs."""
        problem = admitted.problem
        seeds = {"generator": tuple(range(1, problem.spec.generated + 1)), "made": (self.seed,)}
        compiler = named(problem.spec.venv) if problem.spec.venv else machine.compilers.get(problem.language, "")
        return Provenance(admitted.inputs, compiler, seeds)

    async def made(self, problem: Problem, harsh: bool = False) -> GeneratedInputs:
        """The fresh inputs; ``harsh``: those of the re-check."""
        return await self._unseen.made(await self._admissions.of(problem), harsh)

    async def check(self, problem: Problem, winner: Program) -> ProgramCheck:
        """A checker of a winner (``winner_check.py``)."""
        return ProgramCheck(self._sandbox, self._builder, await self._admissions.of(problem), winner, self._unseen)

    async def race_fresh(self, problem: Problem, winner: Program, pairs: int) -> FreshRace:
        """Race the original and the winner on inputs that the winner was not given."""
        ahead = self._ahead if self._ahead is not None and self._ahead.is_of(winner, pairs) else None
        return await (ahead.race.get() if ahead is not None else self._race_fresh(problem, winner, pairs))

    async def _race_fresh(self, problem: Problem, winner: Program, pairs: int) -> FreshRace:
        return await (await self.check(problem, winner)).race_fresh(pairs)

    # ------------------------------------------------------------------------------------------------- admission

    async def admit(self, problem: Problem) -> Admitted:
        """Build, verify and profile the original (``admission.py``).  InputError if that fails."""
        return await self._admissions.admit(problem)

    def time_these(self, admitted: Admitted, names: Sequence[str]) -> Admitted:
        """The admission with these inputs timed, in this order, as another node chose them.

        InputError if one is missing.
        """
        return self._admissions.time_these(admitted, names)

    # ------------------------------------------------------------------------------------------------ evaluator

    @in_stage("evaluation")
    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        """The ladder: reject, build, verify, time.  The speed-up is over the original, in the same session."""
        if (refused := reject(problem, action)) is not None:
            return refused
        assert action.program is not None
        admitted = await self._admissions.of(problem)
        async with build_lane():
            built = await self._builder.build(problem, action.program, final=self._terms.single)
            if built.artefact is None:
                return unbuilt(built)
            if (refused := not_permitted(problem, action.program)) is not None:
                return refused
            verified = await self._early.verified(admitted.problem, built.artefact, admitted.inputs)
            found = ladder_of(built, verified)
            if found.outcome is Outcome.CORRECT and not admitted.reads_unwritten:
                found = await self._on_filled_memory(admitted, built.artefact, found)
        if found.outcome is not Outcome.CORRECT:
            return found
        if not admitted.timed:
            return replace(found, warnings=admitted.notes[-1:])
        found = await self._time(problem, admitted, found, (action.program, built, verified), incumbent)
        if self._profiles and found.timing is not None:  # slow ones too: a search may go on from the fastest of them
            async with build_lane():
                found = replace(found, profile=await hotspots(self._sandbox, problem, built, admitted.inputs))
        return found

    async def machine_code(self, problem: Problem, action: Action) -> MachineCode | None:
        """The role ``Compiler``: builds; an evaluation of the same program reuses the build."""
        if reject(problem, action) is not None:
            return None
        assert action.program is not None
        async with build_lane():
            return (await self._builder.build(problem, action.program, final=self._terms.single)).machine_code

    async def refused_early(self, problem: Problem, action: Action) -> tuple[Admitted, Evaluation] | None:
        """The role ``RefusesEarly``: builds the candidate while the original is admitted (``early.py``).  A compiler
        that was stopped may have met a busy machine: that is decided by ``evaluate``, behind the admission."""
        if (refused := reject(problem, action)) is not None:
            return unadmitted(problem), refused
        assert action.program is not None
        async with build_lane():
            built = await self._builder.build(problem, action.program, final=self._terms.single)
            await build_original(self._builder, problem)  # an original that does not build is the first thing to tell
        return await self._early.refused(self._admissions, problem, action.program, built)

    async def work_ahead(self, problem: Problem, action: Action, pairs: int) -> None:
        """The role ``WorksAhead``: makes the fresh inputs as soon as the candidate is timed by CPU time, and races it
        on them as soon as its gain is confirmed."""
        if action.program is not None and problem.goal != "wall":
            self._ahead = FreshAhead(action.program, pairs, partial(self._race_fresh, problem))
            await self._ahead.is_raced.wait()
            await self._unseen.answered(await self._admissions.of(problem))
            await self._ahead.work()

    async def _on_filled_memory(self, admitted: Admitted, artefact: Blob, found: Evaluation) -> Evaluation:
        """The evaluation of a right candidate after its runs on filled memory: wrong, if its answers change."""
        given = await depends(self._sandbox, admitted.problem, artefact, chosen(admitted.inputs))
        return found if given is None else failed_with(found, Outcome.WRONG, refusal(given))

    async def _time(
        self,
        problem: Problem,
        admitted: Admitted,
        found: Evaluation,
        candidate: tuple[Program, Built, Verified],
        incumbent: Action | None,
    ) -> Evaluation:
        program, built, verified = candidate
        assert built.artefact is not None
        key = f"{identity(problem)} {built.code}"
        async with self._racing.of(key):  # a duplicate waits for this race and reuses it
            timing = self._timings.get(key) or unraced(admitted, built)
            if timing is None:
                entries = self._sides(admitted, RaceSide(built.artefact, verified.outputs))
                incumbent_entry = await self._incumbent(problem, program, incumbent)
                beside: dict[Side, RaceSide] = {"incumbent": incumbent_entry} if incumbent_entry is not None else {}
                if self._ahead is not None:
                    self._ahead.is_raced.set()
                try:
                    timing = ruled(await self._race(admitted, entries, beside), admitted, built)
                except WrongOutput as wrong:
                    return wrong_while_timed(found, wrong)
                if self._remembers and timing.verdict not in (
                    "dominated",
                    "noisy",
                ):  # these depend on the incumbent or on the load, not only on the candidate
                    remember(self._timings, key, timing)
        return with_timing(found, timing, admitted)

    async def _race(self, admitted: Admitted, entries: dict[Side, RaceSide], beside: dict[Side, RaceSide]) -> Timing:
        """The race; an incumbent that gives a wrong output is left out, without harm to the candidate."""
        run = partial(race, self._field(admitted), timed=admitted.raced, rule=self._rule)
        try:
            return await run(entries={**entries, **beside})
        except WrongOutput as wrong:
            if wrong.side != "incumbent":
                raise
            return await run(entries=entries)

    def _field(self, admitted: Admitted) -> RaceInputs:
        return RaceInputs(self._sandbox, admitted.problem, admitted.source)

    def _sides(self, admitted: Admitted, candidate: RaceSide) -> dict[Side, RaceSide]:
        assert admitted.original.artefact is not None
        outputs = {given.name: given.expected or b"" for given in admitted.inputs}
        return {"original": RaceSide(admitted.original.artefact, outputs), "candidate": candidate}

    async def _incumbent(self, problem: Problem, program: Program, incumbent: Action | None) -> RaceSide | None:
        if incumbent is None or incumbent.program is None or incumbent.program.digest == program.digest:
            return None
        built = await self._builder.build(problem, incumbent.program)
        return RaceSide(built.artefact, {}) if built.artefact is not None else None

    # -------------------------------------------------------------------------------------------------- referee

    @in_stage("confirmation")
    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        """Races challengers in slot order against the incumbent on fresh pairs, and confirms the last winner.

        All builds are made without precompiled headers, and every program is verified again on every test, the
        incumbent too.
        """
        admitted = await self._admissions.of(problem)
        leaves_cores = await self._leaves_cores(admitted)
        on_made = not leaves_cores or incumbent is not None or len(challengers) > 1
        prepared, wins = partial(self._fresh, problem, admitted, on_made=on_made), partial(self._wins, admitted)
        leader, found = await last_standing(challengers, incumbent, prepared, wins, ahead=leaves_cores)
        if leader is not None:
            confirmed = partial(self._confirmed_beside, on_made=not on_made) if leaves_cores else self._confirmed
            found[leader[0].id] = await confirmed(admitted, *leader)
        return found

    async def _leaves_cores(self, admitted: Admitted) -> bool:
        """Whether other work may go on while the original is timed.  Not if the wall clock decides, nor if the original
        works on several cores: it would take longer by the wall clock, which also refuses candidates that wait."""
        key = identity(admitted.problem)
        if key not in self._leaving:
            shortest = min(admitted.timed, key=lambda one: one.seconds)
            (ran,) = await Prover(self._sandbox, self._builder).runs(admitted, [shortest])
            is_parallel = ran.spawned > 0 or ran.cpu_s > PARALLEL * ran.wall_s
            self._leaving[key] = admitted.problem.goal != "wall" and not is_parallel
        return self._leaving[key]

    async def _fresh(
        self, problem: Problem, admitted: Admitted, state: State, on_made: bool = True
    ) -> RaceSide | Evaluation:
        """A final build, verified on every test and, if ``on_made``, on fresh inputs; an evaluation if it fails."""
        async with timing_lane() if self._terms.single else build_lane():  # work ahead may hold the place to build
            built = await self._builder.build(problem, state.program, final=True)
            if built.artefact is None:
                return unbuilt(built)
            verified = await verify(self._sandbox, problem, built.artefact, admitted.inputs)
        found = ladder_of(built, verified)
        if found.outcome is not Outcome.CORRECT:
            return found
        failure = await self._unseen.failure(admitted, built.artefact) if on_made else None
        return RaceSide(built.artefact, verified.outputs, built.code) if failure is None else failure

    async def _wins(
        self,
        admitted: Admitted,
        candidate: tuple[State, RaceSide],
        leader: tuple[State, RaceSide],
        found: dict[StateId, Evaluation],
    ) -> bool:
        """True if the candidate wins; a side that gives a wrong output loses, and is added to ``found``."""
        entries: dict[Side, RaceSide] = {"incumbent": leader[1], "candidate": candidate[1]}
        if admitted.source.renews:  # only the original knows the right outputs
            entries = {**self._sides(admitted, candidate[1]), **entries}
        try:
            return await playoff(self._field(admitted), entries, admitted.raced, self._short)
        except WrongOutput as wrong:
            state = candidate[0] if wrong.side == "candidate" else leader[0]
            assert state.step is not None
            found[state.id] = wrong_while_timed(state.step.evaluation, wrong)
            return wrong.side == "incumbent"

    async def _confirmed(self, admitted: Admitted, state: State, entry: RaceSide) -> Evaluation:
        """The evaluation of a winner that is right on fresh inputs, on fresh pairs and after all checks."""
        timed = await self._confirmed_time(admitted, state, entry)
        return await self._examiner.examined(admitted, state.program, entry.artefact, timed)

    async def _confirmed_beside(self, admitted: Admitted, state: State, entry: RaceSide, on_made: bool) -> Evaluation:
        """The same; what needs no timing is done while it is timed.  ``on_made``: it has not run on fresh inputs."""
        assert state.step is not None
        examiner, program, raced = self._examiner, state.program, state.step.evaluation.timing
        look = partial(examiner.looks, admitted, program, entry.artefact, raced)
        async with AsyncExitStack() as stack:
            timed = await stack.enter_async_context(started(partial(self._confirmed_time, admitted, state, entry)))
            with also_in_timing_lane():  # a single place is for the fresh inputs first
                looked = await stack.enter_async_context(started(look, now=several_places()))
            if on_made and (failure := await self._unseen.failure(admitted, entry.artefact)) is not None:
                return failure
            looks = await stack.enter_async_context(started(looked))
            found = await timed()
            if self._ahead is not None:
                self._ahead.told(found)
            return await examiner.examined(admitted, program, entry.artefact, found, looks)

    async def _confirmed_time(self, admitted: Admitted, state: State, entry: RaceSide) -> Evaluation:
        """The evaluation with the timing on fresh pairs, or without one if a timed run failed."""
        assert state.step is not None
        found = state.step.evaluation
        assert entry.code
        key = f"{identity(admitted.problem)} {entry.code}"
        if key not in self._confirmations:  # once: a repeated proposal must not get another chance
            sides = self._sides(admitted, entry)
            try:
                timing = await confirm(self._field(admitted), sides, admitted.timed, self._rule)
            except WrongOutput as wrong:
                return wrong_while_timed(found, wrong)
            if timing.verdict == "noisy":
                return with_timing(found, timing, admitted)
            remember(self._confirmations, key, timing)
        return with_timing(found, self._confirmations[key], admitted)


async def open_evaluator() -> ProgramEvaluator:
    """An evaluator on this machine's sandbox.  UnsafeError if no sandbox is safe."""
    sandbox = await open_safe()
    return ProgramEvaluator(sandbox, Builder(sandbox, sandbox.cache))
