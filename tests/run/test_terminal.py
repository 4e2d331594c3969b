"""No byte of a program or of a file reaches the terminal as a control sequence; --json decodes to the same text."""

from __future__ import annotations

import ast
import json
import re
import shutil
from pathlib import Path

import pytest

import maxcode
from maxcode.core.printable import printable, printable_json
from tests.support.cli import maxcode as command
from tests.support.counting import SLOW
from tests.support.pseudo_terminal import HOSTILE, SHOWN, on_terminal, reached
from tests.support.run_0_1 import DATA

ALL = "".join(HOSTILE)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "tests").mkdir()
    for number, n in enumerate((10, 100, 1000)):
        (tmp_path / "tests" / f"{number}.in").write_text(f"{n}\n")
        (tmp_path / "tests" / f"{number}.out").write_text(f"{n * (n - 1) // 2}\n")
    words = "".join(f"\\{byte:03o}" for byte in ALL.encode())
    (tmp_path / "rude.c").write_text(f'#include <stdio.h>\nint main(void) {{ fputs("{words}", stderr); return 3; }}\n')
    return tmp_path


@pytest.mark.sandbox
def test_what_a_candidate_writes_reaches_the_screen_as_escapes(place: Path) -> None:
    words = ("-m", "maxcode", "evaluate", "rude.c", "--against", "slow.c", "--tests", "tests")
    _, screen = on_terminal(*words, cwd=place)
    assert b"crashed" in screen and reached(screen) == []
    assert "".join(SHOWN).encode() in screen
    done = command(*words[2:], "--json", cwd=place)
    assert done.stdout.isascii() or all(one.isprintable() for one in done.stdout.rstrip("\n"))
    assert ALL in " ".join(json.loads(done.stdout)["reasons"])


WORDS = [
    ("evaluate", ALL, "--against", ALL, "--tests", "tests"),
    ("evaluate", ALL, "--against", "slow.c", "--tests", "tests"),
    (ALL,),
    ("evaluate", f"--{ALL}"),
    ("optimize", "slow.c", "--tests", "tests", "--checker", ALL),
    ("optimize", "slow.c", "--tests", "tests", "--method", ALL),
    ("optimize", "slow.c", "--tests", ALL),
    ("optimize", "slow.c", "--tests", "tests", f"--flags={ALL}"),
    ("list", ALL),
    ("report", ALL),
    ("compare", ALL, ALL),
    ("bench", ALL),
    ("verify", ALL),
    ("train", "grpo", ALL),
]
# All in one process, because starting it takes most of the time.
EACH = """
import json, sys
from maxcode.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["maxcode", *words]
    try:
        main()
    except SystemExit as ended:
        assert ended.code == 2, words
    print("next")
"""


@pytest.mark.heavy
@pytest.mark.sandbox
def test_what_the_user_wrote_is_repeated_as_escapes(place: Path) -> None:
    status, screen = on_terminal("-c", EACH, json.dumps(WORDS), cwd=place)
    parts = screen.split(b"next\r\n")
    assert status == 0 and reached(screen) == [] and parts.pop() == b""
    assert [SHOWN[0].encode() in part for part in parts] == [True] * len(WORDS), screen.decode()


@pytest.mark.sandbox
@pytest.mark.heavy
def test_names_of_tests_are_shown_as_escapes(place: Path) -> None:
    (place / "tests" / f"{ALL}.in").write_text("1\n")
    status, screen = on_terminal("-m", "maxcode", "evaluate", "slow.c", "--against", "slow.c", "--tests", "tests",
                                 cwd=place)  # fmt: skip
    assert status == 0 and reached(screen) == [] and SHOWN[0].encode() in screen  # a note names the made output


@pytest.mark.heavy
def test_a_name_that_is_not_utf_8_is_refused_in_one_sentence(place: Path) -> None:
    status, screen = on_terminal("-m", "maxcode", "report", b"\x9bx".decode(errors="surrogateescape"), cwd=place)
    assert status == 2 and b"is not UTF-8; rename the file" in screen and b"\x9b" not in screen


@pytest.mark.heavy
def test_the_options_of_a_certificate_are_shown_as_escapes(tmp_path: Path) -> None:
    place = shutil.copytree(DATA, tmp_path / "run01")
    path = place / "finished" / "certificate.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "options": {"goal": ALL}}))
    words = ("verify", "finished/certificate.json", "--problem", "slow.cpp", "--tests", "tests")
    status, screen = on_terminal("-m", "maxcode", *words, cwd=place)
    assert status == 2 and reached(screen) == [] and SHOWN[0].encode() in screen


SAYS = """
import logging, sys, warnings
from maxcode.cli.terminal import guard
from maxcode.run.display import Display
said = sys.argv[1]
guard()
with Display() as display:
    display.say(said)
    display.note(said)
    display.note("[link=http://127.0.0.1/]words[/link]")
warnings.warn(said)
logging.getLogger("any").warning("%s", said)
try:
    raise ValueError(said)
except ValueError:
    logging.getLogger("any").exception("with its traceback")
raise RuntimeError(said)
"""


@pytest.mark.heavy
def test_progress_warnings_log_lines_and_tracebacks_are_shown_as_escapes(place: Path) -> None:
    status, screen = on_terminal("-c", SAYS, ALL, cwd=place)
    assert status == 1 and reached(screen) == []
    assert screen.count(SHOWN[0].encode()) >= 6
    assert b"[link=http://127.0.0.1/]words[/link]" in screen  # no markup: it would become a control sequence


def test_lines_and_tabs_stay_and_everything_else_that_does_not_print_is_an_escape() -> None:
    assert printable("a\tb\né ×") == "a\tb\né ×"
    assert printable("\r\0\x7f\x85\u2066\ufeff\udc9b\U000e0041") == "\\r\\0\\x7f\\x85\\u2066\\ufeff\\udc9b\\U000e0041"


def test_json_with_escapes_decodes_to_the_same_text() -> None:
    text = "".join(map(chr, [*range(0x300), *range(0x2000, 0x2100), 0xFEFF, 0xE0041, 0x1F600]))
    escaped = printable_json(json.dumps({text: [text]}, ensure_ascii=False, indent=1))
    assert json.loads(escaped) == {text: [text]}
    assert all(one.isprintable() or one == "\n" for one in escaped) and "\U0001f600" in escaped


PRINTS = {"print", "secho", "echo_via_pager", "style", "rprint"}
# The places that print: the two that escape, one fixed sentence of ours, and two that answer our own process in a pipe
# (an address, and lines of JSON).
MAY_PRINT = {
    "cli/terminal.py",
    "run/display.py",
    "sandbox/sandbox.py",
    "evaluate/cluster/ray_nodes.py",
    "bench/versions/holder.py",
}


def test_nothing_else_in_maxcode_prints() -> None:
    root = Path(maxcode.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        if "inside" in path.parts:  # runs in the sandbox
            continue
        text = path.read_text()
        if not re.search(r"print|secho|echo|style|sys\.(__)?std", text):
            continue
        for node in ast.walk(ast.parse(text)):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            is_stream = called.rpartition(".")[0] in ("sys.stdout", "sys.stderr", "sys.stdout.buffer", "sys.__stderr__")
            if (
                called in PRINTS
                or (called.startswith("click.") and called[6:] in {"echo", *PRINTS})
                or (is_stream and called.endswith(".write"))
            ):
                found.add(path.relative_to(root).as_posix())
    assert found == MAY_PRINT
