"""A coding agent as the policy: what it gets, what comes back, and that nothing else does."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Action, Case, Observation, Problem, Program, ProgramSpec, Section, State
from maxcode.errors import InputError, ProviderError
from maxcode.llm.clients.command import AGENT
from maxcode.llm.clients.faults import TransientFault
from maxcode.llm.clients.retrying import Patience, Retrying
from maxcode.policy.agent import Agent, AgentModel, AgentSettings, agent_model
from tests.support.cli import answer, doubts_of, maxcode
from tests.support.counting import BY_FOUR, LOOP, QUARTER, SLOW
from tests.support.processes import wait_until

pytestmark = pytest.mark.sandbox

SECRET = "4837261950274"


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    folder = tmp_path / "tests"
    folder.mkdir()
    for name, text in (("00.in", "8\n"), ("00.out", "28\n"), ("01.in", f"{SECRET}\n"), ("01.out", f"{SECRET}\n")):
        (folder / name).write_text(text)
    cases = [Case(name, str(folder / f"{name}.in"), str(folder / f"{name}.out")) for name in ("00", "01")]
    spec = ProgramSpec(flags=("-O2",), seen=tuple(cases[:1]), held_out=tuple(cases[1:]))
    return Problem("sum", "program", "c", Program({"slow.c": SLOW}), spec)


def agent(folder: Path, body: str, **settings: object) -> AgentModel:
    path = folder / "agent.sh"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return agent_model(f"{AGENT}{path}", replace(AgentSettings(seconds=60), **settings))  # type: ignore[arg-type]


def proposed(problem: Problem, model: AgentModel) -> Action:
    seen = Observation((Section("Task", "Make it faster."),), State(problem), 7)
    return anyio.run(Agent(model, model.settings).propose, seen)


def test_it_edits_the_program_in_a_folder_with_the_task_and_the_shown_tests(problem: Problem, tmp_path: Path) -> None:
    report = json.dumps({"prompt_tokens": 9, "completion_tokens": 3, "dollars": 0.25})
    body = (
        "grep -c 'Make it faster' TASK.md; grep -c 'Make it faster'; ls; cat tests/*; gcc -O2 slow.c -o slow\n"
        f"./slow < tests/00.in; echo '{report}' > $MAXCODE_USAGE; sed -i 's/return 1/return 2/' slow.c; rm TASK.md"
    )
    found = proposed(problem, agent(tmp_path, body))
    assert found.program is not None and found.program.files == {"slow.c": SLOW.replace("return 1", "return 2")}
    assert found.completion.startswith("1\n1\nTASK.md\nslow.c\ntests\n8\n28\n28\n")
    assert (found.usage.calls, found.usage.tokens, found.usage.dollars) == (1, 12, 0.25)


@pytest.mark.parametrize(
    ("body", "reason", "no_gain"),
    [
        ("echo I looked around", "the agent changed no file of the program", False),
        ("echo '**NO FURTHER GAIN**: it is optimal'", "", True),
        ("rm slow.c", "the agent changed no file of the program", False),
        ("ln -sf /etc/passwd slow.c", "the agent changed no file of the program", False),
        ("rm slow.c; mkdir slow.c; echo x > slow.c/x", "the agent changed no file of the program", False),
        ("echo x > other.c; echo y > tests/00.in", "the agent changed no file of the program", False),
    ],
)
def test_what_is_no_change_of_the_program(
    problem: Problem, tmp_path: Path, body: str, reason: str, no_gain: bool
) -> None:
    found = proposed(problem, agent(tmp_path, body))
    assert (found.program, found.unread, found.no_gain) == (None, reason, no_gain)


def test_a_failed_agent_is_asked_again_and_an_endless_one_ends(problem: Problem, tmp_path: Path) -> None:
    with pytest.raises(TransientFault, match="exit status 3: no luck"):
        proposed(problem, agent(tmp_path, "echo no luck >&2; exit 3"))
    kept = proposed(problem, agent(tmp_path, "sed -i 's/return 1/return 2/' slow.c; exit 3"))
    assert kept.program is not None, "what was changed counts"
    seconds = f"1234.{os.getpid()}"
    model = agent(tmp_path, f"sleep {seconds} & (setsid sleep {seconds} &) ; wait")
    slow = Agent(Retrying(model, "the agent", Patience(1, 1.0)), model.settings)
    began = time.monotonic()
    with pytest.raises(ProviderError, match="no complete answer within 1 s"):
        anyio.run(slow.propose, Observation((), State(problem), 7))
    assert time.monotonic() - began < 10
    assert not running(seconds)


def running(seconds: str) -> list[str]:
    """The processes that sleep for just so long."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if line.split() == ["sleep", seconds]:
            found.append(line)
    return found


HOSTILE = {  # each prints what it finds and writes it into the program; {root} is the folder of the tests
    "read a hidden test": "cat {root}/tests/01.in",
    "find all hidden tests": "find / -name '01.*' -exec cat {{}} +",
    "search all files": "grep -rslF {part} /tmp /var /run /dev/shm /home /root /etc /work {root} | xargs cat",
    "read the folder by a parent": "cat ../tests/01.in ../../{root}/tests/01.in; ls -R /work/..",
    "read the home folder": "cat ~/key $HOME/../*/key {root}/home/key",
    "read the variables": "env; cat /proc/*/environ",
    "read other processes": "cat /proc/[0-9]*/cmdline /proc/[0-9]*/mem; ls -l /proc/[0-9]*/fd/",
    "read an open file of the parent": "cat /proc/1/root{root}/tests/01.in /proc/$PPID/cwd/*",
    "edit a hidden test": "echo changed > {root}/tests/01.out; rm -rf {root}",
    "edit the judge": "find / -name maxcode -path '*src*'; echo 'x = (' > {source}/evaluate/__init__.py",
    "edit the system": "echo changed > /usr/bin/gcc; rm -f /usr/bin/tar; touch /etc/hostile",
    "leave a file in /tmp": "touch /tmp/hostile-{secret} /var/tmp/hostile-{secret} /dev/shm/hostile-{secret}",
    "leave a process": "sleep {seconds} & "
    "setsid sleep {seconds} & nohup sleep {seconds} & (trap '' TERM HUP; sleep {seconds}) &",
    "leave a daemon twice": "setsid sh -c 'setsid sleep {seconds} & exit 0' & disown; sleep 0.1",
    "kill all": "kill -9 -1; kill -9 1; kill -9 $PPID",
    "fill the disk": "dd if=/dev/zero of=/work/big bs=1M count=4096; dd if=/dev/zero of=/tmp/big bs=1M count=4096",
    "fill the memory": "python3 -c 'x = [bytearray(1 << 20) for _ in range(1 << 14)]'",
    "start without end": "f() {{ f | f & }}; f; sleep 0.3",
    "make many files": "mkdir d; cd d; seq 20000 | xargs touch; cd ..",
    "answer without end": "yes {root} | head -c 300000000; yes >&2 | head -c 100000000",
    "answer a large program": "head -c 100000000 /dev/zero | tr '\\0' x > slow.c; exit 0",
    "connect to the machine": "python3 -c \"import socket\n"
    "print(socket.create_connection(('127.0.0.1', {port}), 2).recv(99))\"",
    "connect to the world": "python3 -c \"import socket; socket.create_connection(('1.1.1.1', 443), 2)\""
    " && echo rea''ched",
    "ask a name server": "getent hosts example.org && echo rea''ched",
    "find a socket": "find / -type s; ls /run /var/run /tmp; cat /proc/net/unix",
    "mount": "mount -t tmpfs none /mnt; mount --bind / /mnt\n"
    "unshare -rm sh -c 'mount --bind {root} /work; cat /work/tests/01.in'",
    "enter another namespace": "nsenter -t 1 -a cat {root}/tests/01.in\n"
    "unshare -rpf --mount-proc cat {root}/tests/01.in",
    "become root": "su -c 'cat {root}/tests/01.in'; sudo -n cat {root}/tests/01.in; id",
    "make a device": "mknod /tmp/sda b 8 0 && echo rea''ched; cat /dev/sd* /dev/vd* /dev/mem | head -c 1000; ls /dev",
    "write to the kernel": "for at in sys/vm/drop_caches sysrq-trigger; do (echo 1 > /proc/$at) &&"
    " echo rea''ched; done\n"
    "mount -o remount,rw /proc/sys && echo rea''ched; umount /proc/sys && echo rea''ched\n"
    "unshare -rpf --mount-proc sh -c 'echo 1 > /proc/sys/vm/drop_caches' && echo rea''ched",
    "replace the tools that answer": "mkdir /tmp/b; printf '#!/bin/sh\\ncat {root}/tests/01.in' > /tmp/b/tar\n"
    "chmod +x /tmp/b/tar; export PATH=/tmp/b:$PATH; tar",
    "a link as the program": "ln -sf {root}/tests/01.in slow.c; ln -sf {root}/tests/01.in /tmp/maxcode-said",
}  # fmt: skip


@pytest.fixture
def listening() -> Iterator[int]:
    """A server of this machine that tells the secret."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        door.settimeout(0.2)
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                try:
                    one, _ = door.accept()
                except OSError:
                    continue
                with one:
                    one.sendall(SECRET.encode())

        thread = threading.Thread(target=serve)
        thread.start()
        yield door.getsockname()[1]
        ended.set()
        thread.join()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_agent_has_no_effect(
    problem: Problem, tmp_path: Path, name: str, listening: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", SECRET)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "key").write_text(SECRET)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    before = {path: path.read_bytes() for path in (tmp_path / "tests").iterdir()}
    judge = Path(__file__).parents[2] / "src" / "maxcode"
    judged = (judge / "evaluate" / "__init__.py").read_bytes()
    seconds = f"4321.{os.getpid()}"
    given = {"root": tmp_path, "secret": SECRET, "part": SECRET[:-2], "port": listening, "source": judge,
             "seconds": seconds}  # fmt: skip
    body = f"( {HOSTILE[name].format(**given)} ) >> found 2>&1; cat found; echo '//' >> slow.c; cat found >> slow.c"
    began = time.monotonic()
    try:
        found = proposed(problem, agent(tmp_path, body, seconds=20, memory_mb=512, processes=128))
    except (TransientFault, ProviderError):
        told = ""
    else:
        told = found.completion.replace(f"hostile-{SECRET}", "")
    assert SECRET not in told and "reached" not in told
    assert time.monotonic() - began < 60
    assert {path: path.read_bytes() for path in (tmp_path / "tests").iterdir()} == before
    assert (judge / "evaluate" / "__init__.py").read_bytes() == judged
    assert not any(Path(folder, f"hostile-{SECRET}").exists() for folder in ("/tmp", "/var/tmp", "/dev/shm"))
    assert not Path("/etc/hostile").exists() and os.access("/usr/bin/tar", os.X_OK)
    assert not running(seconds)


def test_an_agent_that_would_be_shown_a_hidden_test_is_refused(problem: Problem, tmp_path: Path) -> None:
    model = agent(tmp_path, "echo x", show=(tmp_path,))
    with pytest.raises(InputError, match=r"holds the held-out test 01\.in; take it out of agent\.show"):
        proposed(problem, model)


def test_it_reaches_the_named_hosts_and_no_others(problem: Problem, tmp_path: Path, listening: int) -> None:
    ask = (
        "import os, socket, sys; proxy = os.environ['HTTPS_PROXY'].rpartition(':')[2]\n"
        "one = socket.create_connection(('127.0.0.1', int(proxy)))\n"
        "one.sendall(f'CONNECT {sys.argv[1]} HTTP/1.1\\r\\n\\r\\n'.encode())\n"
        "said = b''\n"
        "while part := one.recv(99): said += part\n"
        "print(said)\n"
    )
    (tmp_path / "ask.py").write_text(ask)
    body = f"for at in 127.0.0.1:{listening} 127.0.0.1:22 example.org:443; do python3 {tmp_path}/ask.py $at; done"
    model = agent(tmp_path, body, hosts=(f"127.0.0.1:{listening}",), show=(tmp_path / "ask.py",))
    said = proposed(problem, model).completion
    assert said.count("403 Forbidden") == 2
    assert said.splitlines()[0] == f"b'HTTP/1.1 200 Connection established\\r\\n\\r\\n{SECRET}'"


@pytest.mark.parametrize(
    ("name", "words"),
    [("agent:", "names no agent"), ("agent:'x", "cannot be split"), ("agent:no-such-agent", "there is no program")],
)
def test_an_agent_that_is_not_there_is_refused(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        agent_model(name, AgentSettings())


def test_a_run_asks_an_agent_and_resumes_without_asking_twice(tmp_path: Path) -> None:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "tests").mkdir()
    for number, n in enumerate((160_000_003, 162_620_007, 165_000_041, 166_000_009)):
        (tmp_path / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (tmp_path / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    edit = f"text = open('slow.c').read(); open('slow.c', 'w').write(text.replace({LOOP!r}, {BY_FOUR!r}))"
    (tmp_path / "edit.py").write_text(edit)
    script = tmp_path / "agent.sh"
    script.write_text(f"#!/bin/sh\npython3 {tmp_path}/edit.py\necho Four at a time.\n")
    script.chmod(0o755)
    command = ("optimize", "slow.c", "--tests", "tests", "--policy", "agent:./agent.sh", "--method", "best-of-n",
               "--set", f'agent.show=["{tmp_path}/edit.py"]', "--budget", "1", "--out", "run", "--json")  # fmt: skip
    found = answer(maxcode(*command, cwd=tmp_path))
    assert doubts_of(found) == [] and found["confirmed"] and found["speedup"]["low"] > 1
    calls = (tmp_path / "run" / "calls.jsonl").read_text()
    script.write_text("#!/bin/sh\nexit 1\n")
    assert answer(maxcode(*command, cwd=tmp_path))["speedup"] == found["speedup"]
    assert (tmp_path / "run" / "calls.jsonl").read_text() == calls
    assert QUARTER.strip() in json.loads(json.loads(calls.splitlines()[0])["completion"]["text"])["files"]["slow.c"]


def test_killing_the_run_ends_the_agent(tmp_path: Path) -> None:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "00.in").write_text("90000000\n")
    script = tmp_path / "agent.sh"
    seconds = f"9876.{os.getpid()}"
    script.write_text(f"#!/bin/sh\nsleep {seconds}\n")
    script.chmod(0o755)
    words = [sys.executable, "-m", "maxcode", "optimize", "slow.c", "--tests", "tests", "--policy", f"agent:{script}",
             "--method", "best-of-n", "--budget", "1", "--anyway", "--out", "run"]  # fmt: skip
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        assert wait_until(lambda: run.poll() is not None or bool(running(seconds)), 300)
        assert run.poll() is None
        run.kill()
        run.wait()
        assert wait_until(lambda: not running(seconds), 30)
