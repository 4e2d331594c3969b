"""Every code block and command in README and docs is executed, and every link and path that they name exists.

```python blocks of one page run in one process, top to bottom.  ```sh blocks run line by line in a fresh copy of the
checkout with its environment on the PATH.  Blocks after `<!-- slow -->` run only in the long suite, those after
`<!-- slow in FOLDER -->` in that folder of the copy.  `make ...` is asked for its plan (`make -n`) in the short suite,
since `make test` is what runs this file.  ```text is output.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, fields, is_dataclass
from itertools import groupby
from pathlib import Path

import pytest

from maxcode.llm import prompts
from maxcode.problems.description import Description, describe
from maxcode.train.config import Lora, TrainConfig, VllmTable, config_of

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
WRITTEN = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "RESULTS.md"]
TABLES = {"checker", "limits", "tests", "function", "module", "python"}
BLOCK = re.compile(r"^(<!-- slow(?: in ([\w/]+))? -->\n)?(`{3,})(\w*)\n(.*?)^\3$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"(?<![\w/.-])(?:src|tests|docs|benchmarks|configs|examples|scripts)/[\w./+-]*\w")


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    slow: bool
    folder: str


def all_blocks(page: Path) -> list[Block]:
    found = BLOCK.findall(page.read_text())
    return [Block(kind, text, bool(mark), folder) for mark, folder, _, kind, text in found]


def blocks(page: Path, kind: str, slow: bool) -> list[Block]:
    return [block for block in all_blocks(page) if block.kind == kind and block.slow == slow]


def prose(page: Path) -> str:
    """A page without its blocks."""
    return BLOCK.sub("", page.read_text())


def anchors(page: Path) -> set[str]:
    """What can follow a `#` in a link to this page: its headings, as GitHub and the docs site spell them."""
    heads = re.findall(r"^#+ +(.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def python(text: str, where: Path) -> None:
    done = subprocess.run([sys.executable, "-c", text], cwd=where, capture_output=True, text=True)
    assert done.returncode == 0, f"{text}\n{done.stderr[-2000:]}"


def shell(text: str, where: Path) -> None:
    path = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=where,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what git tracks, so that commands of the docs leave nothing behind."""
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def pages(found: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", found, ids=[str(page.relative_to(ROOT)) for page in found])


def pages_with(kind: str, slow: bool = False) -> pytest.MarkDecorator:
    return pages([page for page in PAGES if blocks(page, kind, slow)])


@pytest.mark.sandbox
@pages_with("python")
def test_the_python_blocks_of_a_page_run(page: Path) -> None:
    python("\n".join(block.text for block in blocks(page, "python", slow=False)), ROOT)


@pytest.mark.sandbox
@pytest.mark.slow
@pages_with("python", slow=True)
def test_the_long_python_blocks_of_a_page_run(page: Path, checkout: Path) -> None:
    for folder, group in groupby(blocks(page, "python", slow=True), key=lambda block: block.folder):
        python("\n".join(block.text for block in group), checkout / folder)


@pytest.mark.sandbox
@pages_with("sh")
def test_the_commands_of_a_page_run(page: Path, checkout: Path) -> None:
    for block in blocks(page, "sh", slow=False):
        shell(re.sub(r"^make ", "make -n ", block.text, flags=re.MULTILINE), checkout)


@pytest.mark.sandbox
@pytest.mark.slow
@pages_with("sh", slow=True)
def test_the_long_commands_of_a_page_run(page: Path, checkout: Path) -> None:
    for block in blocks(page, "sh", slow=True):
        shell(block.text, checkout / block.folder)


def test_every_block_says_what_it_is() -> None:
    for page in WRITTEN:
        kinds = {block.kind for block in all_blocks(page)}
        assert kinds <= {"python", "sh", "text", "toml", "cpp"}, f"{page}: a block of kind {kinds}"


def test_every_table_is_toml() -> None:
    for page in WRITTEN:
        for block in all_blocks(page):
            if block.kind == "toml":
                tomllib.loads(block.text)


@pages(WRITTEN)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        name, _, anchor = link.partition("#")
        if "://" in name:
            continue
        there = (page.parent / name).resolve() if name else page
        assert there.exists(), f"{page}: {link}"
        assert not anchor or anchor in anchors(there), f"{page}: {link}"


@pages(WRITTEN)
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    missing = {name for name in NAMED.findall(prose(page)) if not (ROOT / name).exists()}
    assert not missing, f"{page}: {missing}"


def test_every_page_that_the_code_names_exists() -> None:
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "configs").glob("*.toml")]:
        for name in re.findall(r"docs/[\w/-]+\.md|benchmarks/[A-Z]+\.md", path.read_text()):
            assert (ROOT / name).is_file(), f"{path}: {name}"


def test_every_page_of_the_docs_can_be_reached_from_the_index() -> None:
    first = ROOT / "docs" / "index.md"
    reached, left = {first}, [first]
    while left:
        page = left.pop()
        links = {link.partition("#")[0] for link in LINK.findall(prose(page)) if "://" not in link}
        found = {(page.parent / link).resolve() for link in links if link.endswith(".md")} - reached
        reached |= found
        left += found
    assert set(PAGES[2:]) <= reached


def test_every_page_of_the_docs_is_in_the_navigation_of_the_site() -> None:
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text()))
    assert listed >= {page.relative_to(ROOT / "docs").as_posix() for page in PAGES[2:]}


def test_no_line_of_prose_is_wider_than_130_characters() -> None:
    for page in [*PAGES, ROOT / "benchmarks" / "RESULTS.md"]:
        wide = [line for line in prose(page).splitlines() if len(line) > 130 and not line.startswith("|")]
        assert not wide, f"{page}: {wide[0]}"


def test_the_page_of_problems_has_every_key_with_its_default() -> None:
    page = ROOT / "docs" / "reference" / "problem.md"
    text = page.read_text()
    told: dict[str, set[str]] = {}
    for block in (block.text for block in all_blocks(page) if block.kind == "toml"):
        table = tomllib.loads(block)
        describe(table, "docs/reference/problem.md")
        free = {line.split("=")[0].strip() for line in block.splitlines() if "default" in line}
        for name, values in {
            "": table,
            **{key: value for key, value in table.items() if is_dataclass(getattr(Description(), key))},
        }.items():
            usual = Description() if not name else getattr(Description(), name)
            told.setdefault(name, set()).update(values)
            for key, value in values.items():
                if key not in free | TABLES and key not in ("source", "kind"):
                    shown = tuple(value) if isinstance(value, list) else value
                    assert shown == getattr(usual, key), f"[{name}] {key}"
    in_words = {"sources", "tie_break", "checker_beside"}
    assert all(word in text for word in in_words)
    assert told[""] | in_words | {"language"} >= {one.name for one in fields(Description)}
    for name in TABLES:
        assert told[name] >= {one.name for one in fields(getattr(Description(), name))}, name


def test_the_page_of_training_has_every_key_with_its_default() -> None:
    page = ROOT / "docs" / "reference" / "training.md"
    usual, rare = (tomllib.loads(block.text) for block in all_blocks(page) if block.kind == "toml")
    found, default = config_of(usual, str(page)), TrainConfig(tuple(usual["problems"]))
    assert found == default
    for key, value in vars_of(default).items():
        known = usual.get(key) if is_dataclass(value) else None
        left_out = {name for name, inner in vars_of(value).items() if inner is None} if known is not None else set()
        assert key in usual and (known is None or set(known) | left_out == set(vars_of(value))), key
    both = config_of({"problems": ["x"], **rare}, str(page))
    assert (both.model.lora, both.grpo.vllm) == (Lora(), VllmTable())
    assert set(rare["model"]["lora"]) == set(vars_of(Lora())) and set(rare["grpo"]["vllm"]) == set(vars_of(VllmTable()))


def vars_of(found: object) -> dict[str, object]:
    """The fields of a dataclass that a file may set."""
    assert is_dataclass(found)
    return {one.name: getattr(found, one.name) for one in fields(found) if one.name != "folder"}


def test_the_page_of_prompts_shows_the_templates_of_today() -> None:
    page = (ROOT / "docs" / "reference" / "prompts.md").read_text()
    assert f"Templates: `{prompts.digest()}`" in page, "run `python scripts/prompts.py`"


@pytest.mark.heavy
def test_the_tiny_example_runs() -> None:
    done = subprocess.run([sys.executable, "examples/tiny.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "best: unroll 8, 2.1x" in done.stdout
    assert len((ROOT / "examples" / "tiny.py").read_text().splitlines()) <= 100


def test_readme_and_make_help_name_the_target_that_only_installs() -> None:
    root = Path(__file__).parents[1]
    shown = subprocess.run(["make", "help"], cwd=root, capture_output=True, text=True, check=True).stdout
    assert "make env " in shown
    assert "`make env`" in (root / "README.md").read_text()
