"""Where a worker finds the cgroup for those of its jobs, and what it does without one."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from structlog.testing import capture_logs

from cases import cases
from weft.plugins.runners.spawner.job_cgroups import NoCgroup, cgroup_limits, find_job_cgroup
from weft.ports.executor import CgroupTerms
from weft.run.doctor import examine
from weft.run.home import Home
from weft.run.host.job_accounts import cgroup_of
from weft.settings import Settings
from worker import cgroup_kernel

CONTROL = "cgroup.subtree_control"


@pytest.fixture
def delegated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a directory that looks like a delegated cgroup."""
    path = tmp_path / "delegated"
    path.mkdir()
    monkeypatch.setattr(os, "mkdir", cgroup_kernel.mkdir)
    monkeypatch.setattr(os, "rmdir", cgroup_kernel.rmdir)
    yield cgroup_kernel.lay_out(path)
    monkeypatch.undo()


def test_a_worker_has_a_cgroup_of_its_own_in_which_limits_are_on(
    delegated: Path, tmp_path: Path
) -> None:
    """It is found again by the next agent, and no other worker of the host has it."""
    homes = [Home(tmp_path / name) for name in "aab"]
    found = [
        cgroup_of(
            Settings(
                home=home.path,
                job_limits="always",
                job_cgroup=str(delegated),
                job_limits_cpu="quota",
                job_processes_max=7,
            ),
            home,
        )
        for home in homes
    ]
    terms = found[0]
    assert terms is not None
    own = Path(terms.directory)

    assert terms == CgroupTerms(directory=str(own), has_quota=True, processes_max=7)
    assert found[1] == terms != found[2]
    assert own.parent == delegated
    for one in (delegated, own):
        assert (one / CONTROL).read_text() == "+cpu +memory +pids"
    assert {one.name for one in delegated.iterdir() if one.is_dir()} == {
        Path(one.directory).name for one in found if one is not None
    }, "the probe is left"


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("cgroup.controllers", "cpu io\n", "lacks controllers: memory, pids"),
        ("cgroup.procs", "1\n", "processes run in {} itself"),
        ("cgroup.controllers", None, "No such file or directory"),
    ],
)
def test_a_cgroup_that_cannot_be_used_says_why(
    delegated: Path, tmp_path: Path, file: str, text: str | None, why: str
) -> None:
    if text is None:
        (delegated / file).unlink()
    else:
        (delegated / file).write_text(text)
    home = Home(tmp_path / "home")
    settings = Settings(home=home.path, job_limits="always", job_cgroup=str(delegated))
    with pytest.raises(NoCgroup) as refused:
        cgroup_of(settings, home)

    assert refused.value.code == "WORKER.NO_CGROUP"
    assert why.format(delegated) in refused.value.detail
    assert "Delegate=yes" in refused.value.hint


def test_a_cgroup_that_nobody_can_enter_says_why(delegated: Path) -> None:
    """As when it is not below the one in which the worker runs."""
    (delegated / "cgroup.subtree_control").unlink()

    assert find_job_cgroup(str(delegated)).why_not == f"{delegated} is not delegated to this user"


def test_without_a_wish_it_is_the_one_around_ours(delegated: Path, tmp_path: Path) -> None:
    """Ours is the one that systemd makes for the processes of the unit."""
    ours = delegated / "a.service" / "weft"
    ours.mkdir(parents=True)
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "mountinfo").write_text(
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
        f"41 31 0:38 / {delegated} rw,relatime - cgroup2 cgroup2 rw\n"
    )
    (proc / "cgroup").write_text("1:cpu:/other\n0::/a.service/weft\n")
    found = find_job_cgroup(proc=proc)

    assert found.directory == delegated / "a.service", found.why_not


VERSION_1 = (
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
)


@pytest.mark.parametrize("has_second", [True, False])
def test_a_host_with_controllers_in_version_1_is_told_so(
    tmp_path: Path, *, has_second: bool
) -> None:
    """Beside an empty version 2 (a hybrid host), or alone: no delegation helps there."""
    second = tmp_path / "unified"
    second.mkdir()
    mounts = VERSION_1
    if has_second:
        (second / "cgroup.controllers").write_text("hugetlb\n")
        mounts += f"41 31 0:38 / {second} rw,relatime - cgroup2 cgroup2 rw\n"
    (tmp_path / "mountinfo").write_text(mounts)
    (tmp_path / "cgroup").write_text("2:memory:/\n1:cpu,cpuacct:/\n0::/\n")
    found = find_job_cgroup(str(second), tmp_path)

    assert found.directory is None
    assert found.why_not.endswith(
        "; this host has cpu, memory in version 1, which weft does not use"
    )
    assert has_second is ("lacks controllers: cpu, memory, pids" in found.why_not)
    assert found.way_out.startswith("Boot the host with cgroups of version 2 alone ")
    assert "Delegate=yes" in found.way_out


def test_auto_goes_on_without_limits_and_says_so(tmp_path: Path) -> None:
    home = Home(tmp_path)
    settings = Settings(home=tmp_path, job_limits="auto", job_cgroup="/nowhere")
    with capture_logs() as logs:
        found = cgroup_of(settings, home)

    assert found is None
    assert [one["event"] for one in logs] == ["worker.jobs_not_limited"]
    assert "/nowhere" in logs[0]["why"]


def test_another_runner_makes_no_cgroups(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, job_limits="always", runner="directory")
    with pytest.raises(NoCgroup, match="runner directory makes no cgroups"):
        cgroup_of(settings, Home(tmp_path))


@pytest.mark.parametrize(
    ("wanted", "is_there", "verdict", "found"),
    [
        ("never", True, "off", "to what they reserve; this machine could"),
        ("never", False, "off", "this machine could not (/nowhere"),
        ("auto", False, "warning", "limits nothing: /nowhere"),
        ("always", False, "wrong", "limits nothing: /nowhere"),
        ("always", True, "ok", "holds jobs to what they reserve"),
    ],
)
def test_doctor_says_whether_limits_are_enforced(
    delegated: Path,
    tmp_path: Path,
    wanted: Literal["never", "auto", "always"],
    is_there: bool,
    verdict: str,
    found: str,
) -> None:
    where = str(delegated) if is_there else "/nowhere"
    settings = Settings(home=tmp_path / "home", job_limits=wanted, job_cgroup=where)
    (finding,) = [one for one in examine(settings) if one.check == "job limits"]

    assert finding.verdict == verdict
    assert found in finding.found


@cases(
    ("cpu_m", "has_quota", "limit"),
    [
        (1, True, ("cpu.max", "1000 100000")),
        (2500, True, ("cpu.max", "250000 100000")),
        (1, False, ("cpu.weight", "1")),
        (2500, False, ("cpu.weight", "250")),
        (1_000_000, False, ("cpu.weight", "10000")),
    ],
)
def test_limits_of_cpu_are_within_what_the_kernel_takes(
    cpu_m: int, *, has_quota: bool, limit: tuple[str, str]
) -> None:
    limits = cgroup_limits(cpu_m=cpu_m, memory_mib=0, has_quota=has_quota, processes_max=5)

    assert limits == (("memory.oom.group", "1"), ("pids.max", "5"), limit)
