"""A whole Slurm of a test's own, on this machine: controller, one node, munge.

Everything is in a scratch folder and on ports of the loopback address, and nothing is left when the test ends; where
the test is killed, the daemons end too.  ``SLURM_CONF`` in the environment is all that a client needs.
"""

from __future__ import annotations

import os
import platform
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tests.support.processes import until

PARTITION = "bench"
DAEMONS = ("munged", "slurmctld", "slurmd")
_START_S = 120.0
_STOP_S = 30.0
_PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"  # where daemons are, for who is not root

# Cores are what is given out, as sites do; MinJobAge, so that squeue tells how a job ended.
CONF = """\
ClusterName=scratch
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=2
MinJobAge=300
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory_mb} State=UNKNOWN
PartitionName={partition} Nodes=ALL Default=YES MaxTime=60 State=UP OverSubscribe=NO
"""


@final
@dataclass(frozen=True, slots=True)
class Slurm:
    """A running Slurm.  ``conf`` is what ``SLURM_CONF`` must say; ``daemons`` are its processes by name."""

    folder: Path
    daemons: dict[str, subprocess.Popen[bytes]]

    @property
    def conf(self) -> Path:
        return self.folder / "slurm.conf"

    def ask(self, *command: str) -> str:
        """What one of Slurm's commands prints; RuntimeError with its complaint where it fails."""
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
        return done.stdout.strip()

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": _PATH, "SLURM_CONF": str(self.conf)}

    def submit(self, script: str) -> str:
        """Queue a shell script; its job id.  Its output goes to ``job_output``."""
        return self.ask("sbatch", "--parsable", "-o", str(self.folder / "%j.out"), "--wrap", script)

    def job_output(self, job: str) -> str:
        """What a job has written so far; nothing before it has begun, which is some time after it is RUNNING."""
        file = self.folder / f"{job}.out"
        return file.read_text() if file.exists() else ""

    def state_of(self, job: str) -> str:
        """PENDING, RUNNING, COMPLETED, CANCELLED, ..., as squeue calls it."""
        return self.ask("squeue", "--noheader", "--states", "all", "--jobs", job, "--format", "%T")

    def jobs(self) -> list[str]:
        """The ids of the jobs that wait or run, the oldest first."""
        return sorted(self.ask("squeue", "--noheader", "--format", "%A").split(), key=int)

    def jobs_so_far(self) -> list[str]:
        """The ids of all jobs there were, the oldest first."""
        return sorted(self.ask("squeue", "--noheader", "--states", "all", "--format", "%A").split(), key=int)

    def wait_for(self, job: str, state: str, at_most_s: float = _START_S) -> None:
        """Wait until a job is in a state; TimeoutError says in which it is."""
        until(lambda: self.state_of(job) == state, at_most_s, lambda: f"job {job} is {self.state_of(job)}, not {state}")


@contextmanager
def slurm(cores: int = 2, conf: str = CONF) -> Iterator[Slurm]:
    """Start a Slurm with one idle node of ``cores`` cores, and take it down again with all its jobs.

    RuntimeError with what its daemons wrote where it does not come up.
    """
    _require()
    folder = Path(tempfile.mkdtemp(prefix="maxcode-slurm-", dir="/tmp"))  # short: a socket's path has 107 letters
    try:
        _write(folder, cores, conf)
        found = Slurm(folder, {})
        try:
            _start(found)
            yield found
        finally:
            _stop(found)
    finally:
        shutil.rmtree(folder)


def _require() -> None:
    missing = [name for name in (*DAEMONS, "sbatch", "setpriv") if shutil.which(name, path=_PATH) is None]
    if missing:
        raise RuntimeError(f"{', '.join(missing)} not found; run scripts/system-packages.sh slurm")


def _write(folder: Path, cores: int, conf: str) -> None:
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.touch(mode=0o400)
    key.write_bytes(os.urandom(128))
    controller, node = free_ports(2)
    memory_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    text = conf.format(
        host=platform.node().partition(".")[0],
        user=_user(),
        folder=folder,
        controller=controller,
        node=node,
        cores=cores,
        memory_mb=memory_mb,
        partition=PARTITION,
    )
    (folder / "slurm.conf").write_text(text)


def _user() -> str:
    return subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()


def free_ports(count: int) -> list[int]:
    """Ports of the loopback address that nobody listens on at the moment."""
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


def _start(one: Slurm) -> None:
    conf = str(one.conf)
    _launch(one, "munged", _munged(one.folder))
    until((one.folder / "munge.sock").exists, _START_S, lambda: _told(one))
    _launch(one, "slurmctld", ["slurmctld", "-D", "-f", conf])
    _launch(one, "slurmd", ["slurmd", "-D", "-f", conf])
    until(lambda: _is_idle(one), _START_S, lambda: _told(one))


def _munged(folder: Path) -> list[str]:
    """``--force``: the folder is this user's alone, which munge takes for a mistake."""
    files = {"key-file": "munge.key", "socket": "munge.sock", "pid-file": "munged.pid", "log-file": "munged.log"}
    files["seed-file"] = "munged.seed"
    named = [f"--{option}={folder / name}" for option, name in files.items()]
    return ["munged", "--foreground", "--force", "--num-threads=1", *named]


def _launch(one: Slurm, name: str, command: Sequence[str]) -> None:
    """A daemon that gets SIGTERM when the test's process is gone, however it went."""
    with (one.folder / f"{name}.out").open("wb") as output:
        one.daemons[name] = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=one._environment,
            start_new_session=True,  # Ctrl-C is the test's
        )


def _is_idle(one: Slurm) -> bool:
    gone = [name for name, daemon in one.daemons.items() if daemon.poll() is not None]
    if gone:
        raise RuntimeError(f"{', '.join(gone)} ended at once\n{_told(one)}")
    try:
        return one.ask("sinfo", "--noheader", "--format", "%T") == "idle"
    except RuntimeError:  # the controller does not answer yet
        return False


def _told(one: Slurm) -> str:
    """The last lines of everything the daemons wrote."""
    files = sorted([*one.folder.glob("*.log"), *one.folder.glob("*.out")])
    return "\n".join(f"--- {file.name}\n{file.read_text(errors='replace')[-1500:]}" for file in files)


def _stop(one: Slurm) -> None:
    """Jobs first, then the daemons in the order of who needs whom, then whoever is left of either."""
    if _answers(one):
        for job in one.jobs():
            one.ask("scancel", "--full", "--signal=KILL", job)
            one.ask("scancel", job)
        until(lambda: not one.jobs(), _STOP_S, lambda: _told(one))
    for name in reversed(one.daemons):
        _end(one.daemons[name])
    for process in left_of(one.folder):
        os.kill(process, signal.SIGKILL)


def _answers(one: Slurm) -> bool:
    daemon = one.daemons.get("slurmctld")
    return daemon is not None and daemon.poll() is None and _is_reachable(one)


def _is_reachable(one: Slurm) -> bool:
    try:
        one.ask("scontrol", "ping")
    except RuntimeError:
        return False
    return True


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def left_of(folder: Path) -> list[int]:
    """The processes that were started with the Slurm of ``folder``: daemons, job steps, jobs."""
    mark = f"SLURM_CONF={folder}/slurm.conf".encode()
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in environment.read_bytes().split(b"\0"):
                found.append(int(environment.parent.name))
        except OSError:  # it ended meanwhile, or is another user's
            continue
    return found
