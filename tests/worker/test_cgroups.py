"""Attempts in cgroups of their own: their limits, how they end, and what is left of them."""

import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from weft.core.states import Reason
from weft.plugins.runners.spawner import reason_of
from weft.plugins.runners.spawner.job_cgroups import cgroup_limits, find_job_cgroup, prepare_cgroup
from weft.plugins.runners.spawner.sandbox import find_no_network
from weft.wire.spawner import Account, Cgroup
from worker import cgroup_kernel
from worker.spawner_process import Agent, SpawnerProcess, process, until

LIMITS = cgroup_limits(cpu_m=1500, memory_mib=64, has_quota=False, processes_max=30)
ESCAPE = "setsid env -i /bin/sh -c 'trap \"\" TERM; touch {0}; sleep 600 & wait; wait' & "
"""Starts a process without the attempt's mark, group and session; it tells that it runs."""


@pytest.fixture
def pretended(tmp_path: Path) -> Path:
    """Return a directory that looks like the cgroup of a worker."""
    return cgroup_kernel.lay_out(tmp_path)


@pytest.fixture
def pretending(short_path: Path, pretended: Path) -> Iterator[Agent]:
    """Return the agent of a spawner that takes that directory for a cgroup."""
    modes = ["cgroups", str(pretended)]
    with SpawnerProcess(short_path, program=cgroup_kernel.PROGRAM, modes=modes) as spawner:
        yield spawner.connect()


@pytest.fixture
def group() -> Iterator[Path]:
    """Return a real cgroup, which need not have controllers."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    found = [line.split()[4] for line in lines if " - cgroup2 " in line]
    try:
        path = Path(tempfile.mkdtemp(prefix="weft-test-", dir=found[0] if found else "/nowhere"))
    except OSError as error:
        pytest.skip(f"no cgroup of version 2 can be made here: {error.strerror}")
    yield path
    path.rmdir()


SpawnerIn = Callable[..., SpawnerProcess]


@pytest.fixture
def spawner_in(short_path: Path, group: Path) -> Iterator[SpawnerIn]:
    """Return a function that starts a spawner, in the modes that it gets."""
    started: list[SpawnerProcess] = []

    def start(*modes: str) -> SpawnerProcess:
        started.append(SpawnerProcess(short_path, modes=[*modes, "cgroups", str(group)]))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def test_attempt_is_limited_to_what_it_reserves(pretending: Agent, pretended: Path) -> None:
    cgroup = Cgroup(str(pretended), LIMITS)
    pretending.start(process(1, "sleep", "600", cgroup=cgroup))
    pretending.until_started(1)
    own = pretended / "b1.j1.1"
    limits = {name: (own / name).read_text() for name, _ in LIMITS}
    entered = (own / "cgroup.procs").read_text()
    pretending.kill(1, reason=Reason.CANCELLED)
    end = pretending.until_ended(1)

    assert limits == dict(LIMITS)
    assert entered == "0\n"
    assert end.killed_for == Reason.CANCELLED
    until(lambda: not own.exists())


@pytest.mark.parametrize(
    ("events", "reason", "why"),
    [
        ("oom 1\\noom_kill 2\\n", Reason.OOM, "it used more memory than it had reserved"),
        ("oom 0\\noom_kill 1\\n", Reason.OOM, "the memory of the host was used up"),
        ("oom 3\\noom_kill 0\\n", Reason.SIGNAL, ""),
    ],
)
def test_kill_for_memory_has_its_own_reason(
    pretending: Agent, pretended: Path, events: str, reason: Reason, why: str
) -> None:
    own = pretended / "b1.j1.1"
    script = f"printf '{events}' > {own}/memory.events; kill -9 $$"
    end = pretending.run("sh", "-c", script, cgroup=Cgroup(str(pretended), LIMITS))

    assert (end.signal, reason_of(end)) == (signal.SIGKILL, reason)
    assert end.message.endswith(why)


def test_kill_is_one_of_the_cgroup(pretending: Agent, pretended: Path) -> None:
    """A signal to each process misses those that are born meanwhile."""
    cgroup = Cgroup(str(pretended), LIMITS)
    deaf = "trap '' TERM; touch {0}; while :; do sleep 0.05; done"
    left = (
        f'sh -c "{deaf.format(pretended / "left")}" & while ! [ -e {pretended}/left ]; do :; done'
    )
    pretending.start(process(1, "sh", "-c", deaf.format(pretended / "up"), cgroup=cgroup))
    until((pretended / "up").exists)
    pretending.kill(1, reason=Reason.CANCELLED)
    pretending.until_ended(1)
    pretending.run("true", job_id=2, cgroup=cgroup)
    pretending.run("sh", "-c", left, job_id=3, cgroup=cgroup)
    until(lambda: not (pretended / "b1.j3.1").exists())

    kills = dict(line.split(" ") for line in (pretended / "kills").read_text().splitlines())
    assert kills == {"b1.j1.1": "1", "b1.j2.1": "", "b1.j3.1": "1"}


@pytest.mark.parametrize(
    ("program", "changes", "reason", "why"),
    [
        ("/nowhere/program", {}, Reason.NO_PROGRAM, "does not exist"),
        ("/etc/passwd", {}, Reason.NO_PROGRAM, "not executable"),
        ("true", {"parent": "/nowhere"}, Reason.SYSTEM, "/nowhere/b1.j1.1"),
        ("true", {"limits": (("cpu.other", "1"),)}, Reason.SYSTEM, "cpu.other"),
    ],
)
def test_attempt_that_cannot_be_limited_or_started_says_why(
    pretending: Agent,
    pretended: Path,
    program: str,
    changes: dict[str, Any],
    reason: Reason,
    why: str,
) -> None:
    cgroup = Cgroup(**{"parent": str(pretended), "limits": LIMITS, **changes})
    end = pretending.run(program, cgroup=cgroup)

    assert (end.failure, end.started_ns) == (reason, 0)
    assert why in end.message
    assert not (pretended / "b1.j1.1").exists()


def without_loader(program: Path) -> bytes:
    """Return a program whose loader has a name that does not exist."""
    return re.sub(rb"/lib(\d*/[^\0]*ld[^\0]*\.so)", rb"/nix\1", program.read_bytes(), count=1)


REFUSED: dict[str, bytes | Callable[[], bytes]] = {
    "no interpreter": b"#!/no/such/interpreter -x\n",
    "no interpreter in the directory": b"#! no-such-interpreter\n",
    "directory as interpreter": b"#!/etc\n",
    "interpreter that is no program": b"#!/etc/passwd\n",
    "interpreter below a file": b"#!/etc/passwd/sh\n",
    "interpreter that is itself": b"#!{program}\n",
    "interpreter of other bytes": b"#!/no/such/\xff\n",
    "line of Windows": b"#!/bin/sh\r\nexit 0\n",
    "NUL in the interpreter": b"#!/bin/\0sh\n",
    "no loader": lambda: without_loader(Path("/bin/true")),
}
RUN: dict[str, bytes | Callable[[], bytes]] = {
    "script": b"#! /bin/sh\nexit 127",
    "script of a script": b"#!{other}\n",
    "no interpreter named": b"exit 127\n",
    "copied program": lambda: Path("/bin/false").read_bytes(),
    "empty": b"",
}


@pytest.mark.parametrize("what", [*REFUSED, *RUN])
def test_program_ends_the_same_with_limits_and_without(
    pretending: Agent, pretended: Path, tmp_path: Path, what: str
) -> None:
    """Also one that the kernel refuses only after the shell has entered the cgroup."""
    given = (REFUSED | RUN)[what]
    program, other = tmp_path / "program", tmp_path / "other"
    text = given if isinstance(given, bytes) else given()
    for name, path in ((b"{program}", program), (b"{other}", other)):
        text = text.replace(name, bytes(path))
    program.write_bytes(text)
    other.write_text("#!/bin/sh\nexit 127\n")
    for path in (program, other):
        path.chmod(0o755)
    plain = pretending.run(str(program))
    limited = pretending.run(str(program), job_id=2, cgroup=Cgroup(str(pretended), LIMITS))

    assert (limited.failure, limited.message) == (plain.failure, plain.message)
    assert limited.exit_code == plain.exit_code
    assert plain.failure == (Reason.NO_PROGRAM if what in REFUSED else None)


def test_what_only_looks_like_a_program_keeps_no_spawner_waiting(
    pretending: Agent, pretended: Path, tmp_path: Path
) -> None:
    pipe, half, begin = tmp_path / "pipe", tmp_path / "half", tmp_path / "begin"
    os.mkfifo(pipe, 0o755)
    half.write_bytes(b"\x7fELF\x02\x01\0" + b"\xff" * 100)
    begin.write_bytes(b"\x7fELF")
    for path in (half, begin):
        path.chmod(0o755)
    cgroup = Cgroup(str(pretended), LIMITS)

    assert pretending.run(str(pipe), cgroup=cgroup).failure == Reason.NO_PROGRAM
    assert pretending.run(str(half), job_id=2, cgroup=cgroup).exit_code == 126
    assert pretending.run(str(begin), job_id=3, cgroup=cgroup).exit_code == 126


def test_missing_limits_of_swap_are_no_failure(pretending: Agent, pretended: Path) -> None:
    """A kernel may count no swap."""
    limits = (("memory.swap.max", "0"), ("pids.max", "9"))
    (pretended / "b").mkdir()
    for one in ("cgroup.procs", "pids.max"):
        (pretended / "b" / one).touch()
    end = pretending.run("true", cgroup=Cgroup(str(pretended / "b"), limits))

    assert end.exit_code == 0


@pytest.mark.parametrize("form", ["command", "script", "account", "no network"])
def test_all_of_an_attempt_is_in_its_cgroup(spawner_in: SpawnerIn, group: Path, form: str) -> None:
    changes: dict[str, Any] = {"cgroup": Cgroup(str(group), ())}
    look = "cat /proc/self/cgroup & wait; ls /proc/self/fd"
    argv: tuple[str, ...] = ("sh", "-c", look)
    modes: list[str] = []
    if form == "script":
        argv, changes["script"] = (), look
    elif form == "account":
        if os.geteuid() != 0:
            pytest.skip("only root starts processes under other accounts")
        changes["account"], modes = Account(20001, 20101), ["accounts"]
    elif form == "no network":
        changes["sandbox"] = find_no_network().words or pytest.skip("no network namespaces here")
    agent = spawner_in(*modes).connect()
    end = agent.run(*argv, **changes)
    lines = agent.output(end)[0].decode().splitlines()
    until(lambda: not (group / "b1.j1.1").exists())

    assert lines[-4:] == ["0", "1", "2", "3"], "it inherits the entrance"
    assert next(one for one in lines if one.startswith("0::")).endswith(f"{group.name}/b1.j1.1")


@pytest.mark.parametrize("end", ["kill", "by itself"])
def test_nothing_outlives_an_attempt_beside_another_one(
    spawner_in: SpawnerIn, short_path: Path, group: Path, end: str
) -> None:
    """The other one might have started it: only the cgroup tells."""
    told = short_path / "told"
    spawner = spawner_in()
    agent = spawner.connect()
    cgroup = Cgroup(str(group), ())
    agent.start(process(1, "sleep", "600", cgroup=cgroup))
    last = "while :; do sleep 0.05; done" if end == "kill" else f"until [ -e {told} ]; do :; done"
    agent.start(process(2, "sh", "-c", f"({ESCAPE.format(told)}); {last}", cgroup=cgroup))
    until(told.exists)
    if end == "kill":
        agent.kill(2, reason=Reason.CANCELLED, grace_ms=0)
    agent.until_ended(2)
    until(lambda: not (group / "b1.j2.1").exists())
    is_left = (group / "b1.j1.1").exists()
    spawner.stop()

    assert is_left
    assert not (group / "b1.j1.1").exists()


def test_next_spawner_ends_and_removes_what_a_killed_one_left(
    spawner_in: SpawnerIn, short_path: Path, group: Path
) -> None:
    """Also what has no mark by which it would be found."""
    told = short_path / "told"
    killed = spawner_in()
    agent = killed.connect()
    inner = f"mkdir {group}/b1.j1.1/inner; {ESCAPE.format(told)} wait"
    agent.start(process(1, "sh", "-c", inner, cgroup=Cgroup(str(group), ())))
    until(told.exists)
    killed.kill()
    agent.close()
    pids = [*map(int, (group / "b1.j1.1" / "cgroup.procs").read_text().split())]
    spawner_in().stop()

    assert pids
    assert not any(Path(f"/proc/{pid}/exe").exists() for pid in pids)
    assert [one.name for one in group.iterdir() if one.is_dir()] == []


@pytest.fixture
def limited(short_path: Path) -> Iterator[tuple[Agent, Path]]:
    """Return the agent of a spawner on a host that has delegated a cgroup with all controllers."""
    found = find_job_cgroup(os.environ.get("WEFT_TEST_CGROUP", ""))
    if found.directory is None:
        pytest.skip(f"no cgroup is delegated to the tests: {found.why_not} (WEFT_TEST_CGROUP)")
    own = found.directory / f"weft-test-{os.getpid()}"
    prepare_cgroup(found.directory, own)
    with SpawnerProcess(short_path, modes=["cgroups", str(own)]) as spawner:
        yield spawner.connect(), own
    own.rmdir()


@pytest.mark.heavy  # others take its kill for one of theirs
def test_kernel_enforces_the_limits(limited: tuple[Agent, Path]) -> None:
    agent, own = limited
    cgroup = Cgroup(str(own), LIMITS)
    forks = "for n in $(seq 60); do sleep 600 & done; wait"
    eaten = agent.run(sys.executable, "-c", "held = bytearray(200 << 20)", cgroup=cgroup)
    forked = agent.run("sh", "-c", forks, job_id=2, cgroup=cgroup)

    assert reason_of(eaten) == Reason.OOM
    assert eaten.message.endswith("it used more memory than it had reserved")
    assert forked.exit_code != 0
