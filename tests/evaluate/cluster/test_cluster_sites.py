"""What --cluster says, site files, job scripts, keys; nothing is started."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from maxcode.errors import InputError
from maxcode.evaluate.cluster import ClusterRequest, opened
from maxcode.evaluate.cluster import keys as keys_of
from maxcode.evaluate.cluster.on_queue import Site, job_script, read_site
from maxcode.evaluate.cluster.site import script, secured
from maxcode.evaluate.cluster.utilisation import Utilisation
from maxcode.testing import FakeClock

SITE = Site(8, "16GB", "1-02:00:00", build_cores=2, host="127.0.0.1", queue="bench", prologue=("module load gcc",))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(keys_of.FOLDER, str(tmp_path / "keys"))
    return tmp_path / "keys"


@pytest.mark.parametrize(("queue", "line"), [("slurm", "#SBATCH -p bench"), ("pbs", "#PBS -q bench")])
def test_a_job_script_holds_whole_cores_and_speaks_tls(queue: str, line: str, folder: Path) -> None:
    found = job_script("slurm" if queue == "slurm" else "pbs", SITE)
    assert line in found and "module load gcc" in found
    assert "--resources bench=1,build=2" in found and "MAXCODE_BUILD_CORES=first:2" in found
    assert f"--tls-key {folder}/cluster.key" in found and "--lifetime 93480s" in found
    assert not folder.exists()


def test_site_files_are_refused_with_what_is_wrong(tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    good = 'cores = 4\nmemory = "8GB"\nwalltime = "01:00:00"\ninterface = "lo"\n'
    site.write_text(good)
    assert read_site(site).cores == 4
    for text, why in [
        (good + "job = 3\n", "did you mean 'jobs'"),
        (good + 'jobs = "3"\n', "`jobs`: expected a whole number, got a text"),
        (good.replace("cores = 4\n", ""), "`cores` is missing; see docs/how-to/use-a-cluster.md"),
        (good.replace('interface = "lo"\n', ""), "it listens only on a given address"),
        (good + "build_cores = 4\n", "leaves no core to time on"),
        ("cores = ", "not valid TOML"),
    ]:
        site.write_text(text)
        with pytest.raises(InputError, match=why):
            script(f"slurm:{site}")


@pytest.mark.parametrize("words", ["here", "local:0", "local:", "tcp://host", "slurm:nowhere.toml", "local:99999"])
def test_words_that_name_no_cluster_are_refused(words: str) -> None:
    with pytest.raises(InputError), opened(ClusterRequest(words), None):
        pass


def test_off_the_machine_it_is_tls_or_nothing_unless_plain_is_asked_for(folder: Path) -> None:
    assert secured("tcp", "127.0.0.1", "8786") == ("tcp://127.0.0.1:8786", None)
    assert secured("plain", "login1", "8786") == ("tcp://login1:8786", None)
    for kind, host in (("tcp", "login1"), ("tls", "127.0.0.1")):
        with pytest.raises(InputError, match="no keys of the cluster"):
            secured(kind, host, "8786")
    keys_of.make(folder)
    address, security = secured("tcp", "login1", "8786")
    assert address == "tls://login1:8786" and security.require_encryption
    assert stat.S_IMODE((folder / "cluster.key").stat().st_mode) == 0o600
    (folder / "cluster.key").chmod(0o644)
    with pytest.raises(InputError, match="others can read"):
        secured("tcp", "login1", "8786")


def test_idle_seconds_of_a_slot_have_a_reason() -> None:
    clock = FakeClock()
    use = Utilisation(clock)
    clock.advance(2)  # before it came
    use.set("one", "waiting")
    clock.advance(3)
    use.building(1)
    clock.advance(4)
    use.set("one", "evaluating")
    clock.advance(10)
    use.waited("one", 1.5)
    use.building(-1)
    use.set("one", "waiting")
    clock.advance(1)
    use.set("one", "lost")
    clock.advance(5)
    found = use.report()
    assert found.slots[0].seconds == {
        "absent": 2, "waiting": 4, "builds": 4, "evaluating": 8.5, "lane": 1.5, "lost": 5,
    }  # fmt: skip
    assert found.slots[0].busy_s == 8.5 and found.share == 8.5 / 25
    assert "waiting for builds 4 s" in str(found.slots[0])
