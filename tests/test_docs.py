"""Every code block and command in README and docs is executed.

```python blocks of one page run in one process, top to bottom.  ```sh blocks run line by line in a fresh copy of the
checkout with its environment on the PATH; those after `<!-- slow -->` only in the long suite.  `make ...` is asked
for its plan (`make -n`) in the short suite, since `make test` is what runs this file.  ```text is output.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from maxcode.llm import prompts
from maxcode.problems.description import Description, describe

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TABLES = {"checker", "limits", "tests", "function", "module"}
BLOCK = re.compile(r"^(<!-- slow -->\n)?(`{3,})(\w*)\n(.*?)^\2$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, kind: str, slow: bool) -> list[str]:
    found = BLOCK.findall(page.read_text())
    return [text for mark, _, tag, text in found if tag == kind and bool(mark) == slow]


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


@pytest.mark.sandbox
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    code = "\n".join(blocks(page, "python", slow=False))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.sandbox
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_run(page: Path, checkout: Path) -> None:
    for text in blocks(page, "sh", slow=False):
        shell(re.sub(r"^make ", "make -n ", text, flags=re.MULTILINE), checkout)


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_long_commands_of_a_page_run(page: Path, checkout: Path) -> None:
    for text in blocks(page, "sh", slow=True):
        shell(text, checkout)


def test_every_block_says_what_it_is() -> None:
    for page in PAGES:
        kinds = {tag for _, _, tag, _ in BLOCK.findall(page.read_text())}
        assert kinds <= {"python", "sh", "text", "toml", "cpp"}, f"{page}: a block of kind {kinds}"


def test_every_table_is_toml() -> None:
    for page in PAGES:
        for _, _, tag, text in BLOCK.findall(page.read_text()):
            if tag == "toml":
                tomllib.loads(text)


def test_the_page_of_problems_has_every_key_with_its_default() -> None:
    text = (ROOT / "docs" / "problem.md").read_text()
    told: dict[str, set[str]] = {}
    for block in (block for _, _, tag, block in BLOCK.findall(text) if tag == "toml"):
        table = tomllib.loads(block)
        describe(table, "docs/problem.md")
        free = {line.split("=")[0].strip() for line in block.splitlines() if "default" in line}
        for name, values in {
            "": table,
            **{key: value for key, value in table.items() if isinstance(value, dict)},
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


def test_the_page_of_prompts_shows_the_templates_of_today() -> None:
    page = (ROOT / "docs" / "prompts.md").read_text()
    assert f"Templates: `{prompts.digest()}`" in page, "run `python scripts/prompts.py`"


def test_the_tiny_example_runs() -> None:
    done = subprocess.run([sys.executable, "examples/tiny.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "best: unroll 8, 2.1x" in done.stdout
    assert len((ROOT / "examples" / "tiny.py").read_text().splitlines()) <= 100
