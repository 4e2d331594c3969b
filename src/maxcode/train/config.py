"""The configuration of a training run: one TOML file, whose tables are the fields below.

    problems = ["examples/gemm"]       # folders with problem.toml, or names in suites ("polybench:gemm")
    completion = "text" | "schedule"   # what the policy writes: a whole file, or steps of the kernels policy
    [model]      path = "Qwen/..." or scratch = { hidden = 128, ... }, lora = { r = 16 }
    [reward]     kind = "shaped" | "paper" | "gated"
    [advantage]  kind = "max_at_k" | "plain" | "leave_one_out" | "entropic", k, mix, shrink
    [diversity]  promotion, archive, shown, novelty, stages = "stages.toml"; see search/stages.py
    [imitation]  updates, share, least, batch of the fastest answers, after each step of GRPO
    [grpo]       steps, prompts, generations, learning_rate, ...; [grpo.more] any option of TRL's GRPOConfig
    [bench]      cluster = "tcp://HOST:PORT", where answers are measured; shared_cores
    [corpus], [pretrain], [assess]     of models from scratch, and of the evaluation before and after

An unknown key is refused with the nearest spelling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, final

import msgspec

from maxcode.core.files import read_toml
from maxcode.core.toml_tables import converted, known_keys
from maxcode.errors import InputError
from maxcode.problems import is_named
from maxcode.search.stages import USUAL, Stages, read_stages
from maxcode.train.advantages import Advantage
from maxcode.train.diversity import Diversity

Some = Annotated[int, msgspec.Meta(ge=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Above = Annotated[float, msgspec.Meta(gt=0)]
Weight = Annotated[float, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


@final
@dataclass(frozen=True, slots=True)
class ScratchModel:
    """The shape of a small model of the Qwen2 architecture: about 0.7 million parameters as it stands."""

    hidden: int = 128
    layers: int = 4
    heads: int = 4
    vocabulary: int = 768


@final
@dataclass(frozen=True, slots=True)
class Lora:
    """Low-rank adapters, trained instead of all weights; ``targets`` as peft names modules."""

    r: Some = 16
    alpha: int = 32
    dropout: float = 0.0
    targets: str = "all-linear"


@final
@dataclass(frozen=True, slots=True)
class ModelTable:
    """The source of the policy: ``path`` (a folder, or a name on the Hub) or ``scratch``.  ``prompts``: the form of its
    prompts (``prompts.py``); ``dtype`` and ``device`` as torch names them; ``device`` "auto" uses a GPU if there is
    one."""

    path: str = ""
    scratch: ScratchModel = field(default_factory=ScratchModel)
    lora: Lora | None = None
    prompts: Literal["compact", "chat"] = "compact"
    dtype: Literal["float32", "bfloat16"] = "float32"
    device: Literal["auto", "cpu"] = "cpu"
    attention: str = "eager"


@final
@dataclass(frozen=True, slots=True)
class RewardTable:
    """The reward ladder (``rewards.py``)."""

    kind: Literal["shaped", "paper", "gated"] = "shaped"


@final
@dataclass(frozen=True, slots=True)
class DiversityTable:
    """Staged Quality-Diversity (``diversity.py``).  ``stages``: a TOML file in the same folder, "usual", or "none".
    ``begin``: what the archive holds at first, nothing or the evaluated kernels of the corpus.  ``favour``: how much
    prompts prefer to show fast kernels; 1: not at all.  ``go_on``: whether answers go on from the schedule that would
    be shown."""

    stages: str = "usual"
    promotion: bool = False
    archive: bool = True
    begin: Literal["empty", "corpus"] = "empty"
    shown: Share = 0.5
    favour: Above = 1.0
    novelty: Weight = 0.05
    decay: Share = 0.9
    go_on: bool = False


@final
@dataclass(frozen=True, slots=True)
class VllmTable:
    """Generation by vLLM: in a separate server (``mode`` "server", at ``url``), or in the trainer's process."""

    mode: Literal["server", "colocate"] = "server"
    url: str = "http://127.0.0.1:8000"
    timeout_s: Above = 600.0


@final
@dataclass(frozen=True, slots=True)
class GrpoTable:
    """GRPO.

    ``steps``     number of steps; 0: only the phases before
    ``prompts``   groups per step, each of ``generations`` answers
    ``at_once``   answers that go through the model together on one device; 0: all
    ``beta``      weight of the KL term; 0, the default, needs no reference model
    ``distinct``  whether a schedule may only end where its program is new (``decoding.py``)
    ``explore``   legal schedules that are measured beside the answers of each group (``explore.py``)
    ``more``      any other option of TRL's GRPOConfig
    ``threads``   of torch
    """

    steps: Count = 60
    prompts: Some = 4
    generations: int = 8
    at_once: Count = 0
    learning_rate: Above = 3e-4
    warmup_steps: Count = 5
    temperature: Above = 1.0
    beta: Weight = 0.0
    distinct: bool = False
    explore: Count = 0
    max_completion: Some = 320
    save_steps: Some = 10
    save_limit: int = 2
    report_to: tuple[str, ...] = ()
    threads: Some = 1
    vllm: VllmTable | None = None
    more: dict[str, Any] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class ImitationTable:
    """Imitation of the fastest answers so far (``imitation.py``): after each step of GRPO so many ``updates`` (0: none)
    on ``batch`` answers, drawn from the fastest ``share`` of the archive, or from the fastest ``least`` if that is
    more; ``elites``: only of the best of each cell."""

    updates: Count = 0
    share: Share = 0.1
    least: Some = 16
    batch: Some = 16
    elites: bool = False


@final
@dataclass(frozen=True, slots=True)
class CorpusTable:
    """The corpus for pre-training.

    ``kernels``      examples, from chains of up to ``steps`` legal transformations of each problem's original
    ``templates``    whether tuned kernels may replace loops; also in schedules that the policy writes
    ``verified``     number of distinct kernels that are evaluated
    ``most_tokens``  longer examples are left out
    """

    kernels: Some = 6000
    steps: Some = 6
    templates: bool = False
    verified: Count = 24
    most_tokens: Some = 320


@final
@dataclass(frozen=True, slots=True)
class PretrainTable:
    """Pre-training on the corpus, from random weights."""

    steps: Some = 1000
    batch: Some = 16
    learning_rate: Above = 2e-3
    save_steps: Some = 200


@final
@dataclass(frozen=True, slots=True)
class AssessTable:
    """The evaluation before and after: ``samples`` new answers for each problem and stage, measured apart from training
    (0 = none), ``at_once`` of them generated together; ``before`` may be left out if it is known."""

    samples: Count = 40
    at_once: Some = 20
    before: bool = True


@final
@dataclass(frozen=True, slots=True)
class BenchTable:
    """The place that measures answers: ``cluster`` as in the option --cluster (empty: here); ``shared_cores``: also use
    nodes whose cores other programs use."""

    cluster: str = ""
    shared_cores: bool = False


@final
@dataclass(frozen=True, slots=True)
class TrainConfig:
    """A training run.  Paths of ``problems``, which may also be names in suites, and of stages are relative to the
    file's folder.  ``completion``: what the policy writes, the text of a kernel or a schedule that makes it
    (``prompts.py``)."""

    problems: tuple[str, ...]
    completion: Literal["text", "schedule"] = "text"
    seed: int = 0
    model: ModelTable = field(default_factory=ModelTable)
    reward: RewardTable = field(default_factory=RewardTable)
    advantage: Advantage = field(default_factory=Advantage)
    diversity: DiversityTable = field(default_factory=DiversityTable)
    grpo: GrpoTable = field(default_factory=GrpoTable)
    imitation: ImitationTable = field(default_factory=ImitationTable)
    corpus: CorpusTable = field(default_factory=CorpusTable)
    pretrain: PretrainTable = field(default_factory=PretrainTable)
    assess: AssessTable = field(default_factory=AssessTable)
    bench: BenchTable = field(default_factory=BenchTable)
    folder: Path = Path()

    @property
    def paths(self) -> tuple[Path, ...]:
        """The problems' folders, and names in suites."""
        paths = map(Path, self.problems)
        return tuple(path if is_named(path) else self.folder / path for path in paths)

    @property
    def rules(self) -> Diversity:
        """The active parts of Staged Quality-Diversity; reads the stages' file if one is named."""
        table = self.diversity
        return Diversity(
            self._stages(), table.promotion, table.archive, table.shown, table.favour, table.novelty, table.decay,
            table.go_on,
        )  # fmt: skip

    def _stages(self) -> Stages | None:
        if self.diversity.stages in ("usual", "none"):
            return USUAL if self.diversity.stages == "usual" else None
        return read_stages(self.folder / self.diversity.stages)


def read_config(path: Path, changes: Mapping[str, Any] | None = None) -> TrainConfig:
    """The configuration in a TOML file, changed by ``changes`` (``table.key`` -> value); raises InputError for any key
    or value that cannot be used."""
    table = read_toml(path)
    for dotted, value in (changes or {}).items():
        *above, key = dotted.split(".")
        inner = table
        for name in above:
            inner = inner.setdefault(name, {})
        inner[key] = value
    return config_of(table, str(path), path.parent)


def config_of(table: Mapping[str, Any], where: str, folder: Path = Path()) -> TrainConfig:
    """The configuration in a table; ``where`` names it in errors."""
    known_keys(table, [one.name for one in fields(TrainConfig) if one.name != "folder"], where)
    found = converted({**table, "folder": folder}, TrainConfig, where)
    _sensible(found, where)
    return found


def _sensible(found: TrainConfig, where: str) -> None:
    grpo = found.grpo
    if not found.problems:
        raise InputError(f'{where}: name at least one problem: problems = ["examples/gemm"]')
    if found.completion == "schedule" and (
        found.model.path or found.model.prompts != "compact" or grpo.vllm is not None
    ):
        raise InputError(
            f'{where}: completion = "schedule" needs our own tokens, so a policy from scratch with compact '
            'prompts, and goes without vLLM, which cannot keep to legal schedules; set model.prompts = "compact" and '
            "take out model.path and grpo.vllm"
        )
    shape = found.model.scratch
    if min(shape.hidden, shape.layers, shape.heads) < 1 or shape.hidden % (2 * shape.heads):
        raise InputError(
            f"{where}: model.scratch has hidden = {shape.hidden}, layers = {shape.layers} and heads = {shape.heads}; "
            "each is at least 1, and hidden a multiple of twice the heads"
        )
    if found.diversity.begin == "corpus" and found.model.path:
        raise InputError(
            f'{where}: diversity.begin = "corpus", but a given model (model.path) has no corpus; set it to "empty"'
        )
    if found.imitation.updates and found.model.path:
        raise InputError(
            f"{where}: imitation.updates is {found.imitation.updates}; only a policy from scratch imitates; set it to 0"
        )
    if grpo.distinct and found.completion != "schedule":
        raise InputError(
            f"{where}: grpo.distinct = true, but only of a schedule the program is known before it ends; set "
            'completion = "schedule", or grpo.distinct = false'
        )
    if (grpo.explore or found.diversity.go_on) and found.completion != "schedule":
        key = f"grpo.explore = {grpo.explore}" if grpo.explore else "diversity.go_on = true"
        raise InputError(f'{where}: {key} is about schedules; set completion = "schedule", or take it out')
    if grpo.generations < 2:
        raise InputError(f"{where}: grpo.generations is {grpo.generations}; a group needs 2 answers at least")
    if grpo.prompts % len(found.problems):
        raise InputError(f"{where}: grpo.prompts is {grpo.prompts}, which {len(found.problems)} problems cannot share")
    whole = grpo.prompts * grpo.generations
    if grpo.at_once and (grpo.at_once % grpo.generations or whole % grpo.at_once):
        raise InputError(
            f"{where}: grpo.at_once is {grpo.at_once}; it must hold whole groups of {grpo.generations} and divide "
            f"{whole}"
        )
    if grpo.save_limit < 2:
        raise InputError(f"{where}: grpo.save_limit is {grpo.save_limit}; a kill while one is written needs 2")
    for key in sorted(grpo.more.keys() & _OURS):
        raise InputError(f"{where}: grpo.more.{key} is set by maxcode; use the keys of [grpo], [model] and [advantage]")
    found.rules  # noqa: B018  a wrong stages' file is refused now, not after an hour


_OURS = frozenset(
    {
        "output_dir", "seed", "use_cpu", "bf16", "per_device_train_batch_size", "gradient_accumulation_steps",
        "steps_per_generation", "generation_batch_size", "num_generations", "num_iterations", "max_completion_length",
        "max_steps", "learning_rate", "warmup_steps", "temperature", "beta", "scale_rewards", "reward_weights",
        "shuffle_dataset", "remove_unused_columns", "save_strategy", "save_steps", "save_total_limit", "report_to",
        "disable_tqdm", "dataloader_num_workers", "use_vllm", "vllm_mode", "vllm_server_base_url",
        "vllm_server_timeout",
    }
)  # fmt: skip
"""What ``grpo.arguments`` gives to TRL for keys of ours, or what the judge relies on."""
