"""What is killed, when, and that nothing is left."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from weft.core.states import Reason
from weft.plugins.runners.spawner.start import SpawnerFiles, clear_away, read_boot_id
from weft.wire.spawner import SpawnerLock, Withdraw
from weft.worker.spawner.tree import read_process
from weft_testing.until import until
from worker.spawner_process import (
    NAMESPACE,
    VARIANT,
    Agent,
    SpawnerProcess,
    has_namespaces,
    key_of,
    marked,
    process,
    until_gone,
)
from worker.spawner_process import until as until_so


def left_of(agent: Agent) -> set[int]:
    return marked(f"@{agent.welcome.incarnation}")


def test_time_limit_ends_a_process_that_listens(agent: Agent) -> None:
    ended = agent.run("sleep", "60", timeout_ms=50)

    assert (ended.killed_for, ended.signal) == (Reason.TIMEOUT, signal.SIGTERM)


def test_time_limit_kills_one_that_does_not_listen(agent: Agent) -> None:
    script = 'trap "" TERM; while :; do sleep 0.01; done'
    ended = agent.run("sh", "-c", script, timeout_ms=50, grace_ms=200)

    assert (ended.killed_for, ended.signal) == (Reason.TIMEOUT, signal.SIGKILL)
    assert ended.ended_ns - ended.started_ns >= 250_000_000


def test_time_limit_reaches_a_stopped_process(agent: Agent) -> None:
    ended = agent.run("sh", "-c", "kill -STOP $$; sleep 60", timeout_ms=50, grace_ms=10_000)

    assert ended.signal == signal.SIGTERM


def test_exit_code_after_sigterm_is_still_a_timeout(agent: Agent) -> None:
    script = 'trap "exit 0" TERM; sleep 60 & wait'
    ended = agent.run("sh", "-c", script, timeout_ms=50)

    assert (ended.killed_for, ended.exit_code) == (Reason.TIMEOUT, 0)


def _until_lines(path: Path, count: int) -> None:
    until_so(lambda: path.exists() and len(path.read_text().splitlines()) >= count)


CLEANER = """
    trap "echo asked >> {said}" TERM; echo ready >> {said}
    while [ ! -e {done} ]; do sleep 0.01; done
"""


def test_many_are_killed_with_one_look_at_all_processes(tmp_path: Path) -> None:
    """One for asking and one for killing, though one has a process in a session of its own."""
    said = tmp_path / "said"
    far = f'trap "" TERM; setsid sleep 60 & echo ready >> {said}; exec sleep 60'
    near = f'trap "" TERM; echo ready >> {said}; exec sleep 60'
    with SpawnerProcess(tmp_path, program=(VARIANT, "counting")) as spawner:
        agent = spawner.connect(cpu_m=20_000)
        agent.start(*(process(n, "sh", "-c", near) for n in range(1, 10)))
        agent.start(process(10, "sh", "-c", far))
        _until_lines(said, 10)
        until_so(lambda: len(left_of(agent)) == 11)  # one between fork and exec has no mark
        left = left_of(agent)
        agent.kill(*range(1, 11), 1, reason=Reason.CANCELLED, grace_ms=300)
        ends = [agent.until_ended(n) for n in range(1, 11)]
        until_gone(*left)
        looks = (tmp_path / "looks").read_text()

    assert {one.signal for one in ends} == {signal.SIGKILL}
    assert looks.count("look") < 10


def test_strays_that_end_at_once_are_one_look(tmp_path: Path) -> None:
    """A look for each of a thousand, at a thousand, would stall all jobs of the host."""
    with SpawnerProcess(tmp_path, program=(VARIANT, "counting")) as spawner:
        script = "for i in $(seq 200); do (setsid sleep 2005 &); done; exec sleep 600"
        spawner.connect().start(process(1, "sh", "-c", script))
        until_so(lambda: len(list(Path(f"/proc/{spawner.pid}/fd").iterdir())) > 200)
        until_so(lambda: len(_sleeps("2005")) == 200)
        strays = _sleeps("2005")
        os.kill(spawner.pid, signal.SIGSTOP)
        for pid in strays:
            os.kill(pid, signal.SIGKILL)
        # On a busy machine a process that was killed takes its time to end.
        until_so(lambda: all(") Z " in Path(f"/proc/{pid}/stat").read_text() for pid in strays))
        (tmp_path / "looks").unlink(missing_ok=True)
        os.kill(spawner.pid, signal.SIGCONT)
        children = Path(f"/proc/{spawner.pid}/task/{spawner.pid}/children")
        until_so(lambda: len(children.read_text().split()) == 1)
        looks = (tmp_path / "looks").read_text().count("children")

    assert looks < 20


def test_repeated_kill_asks_once(agent: Agent, tmp_path: Path) -> None:
    """The order to cancel is repeated with each heartbeat; a second SIGTERM means "at once"."""
    said, done = tmp_path / "said", tmp_path / "done"
    agent.start(process(1, "sh", "-c", CLEANER.format(said=said, done=done)))
    _until_lines(said, 1)
    agent.kill(1, reason=Reason.CANCELLED, grace_ms=60_000)
    _until_lines(said, 2)
    agent.kill(1, reason=Reason.CANCELLED, grace_ms=60_000)
    agent.run("true", job_id=2)
    done.touch()

    assert agent.until_ended(1).exit_code == 0
    assert said.read_text() == "ready\nasked\n"


def test_repeated_kill_can_shorten_the_grace(agent: Agent, tmp_path: Path) -> None:
    said, done = tmp_path / "said", tmp_path / "done"
    agent.start(process(1, "sh", "-c", CLEANER.format(said=said, done=done)))
    _until_lines(said, 1)
    agent.kill(1, reason=Reason.CANCELLED, grace_ms=600_000)
    agent.kill(1, reason=Reason.PREEMPTED, grace_ms=50)
    ended = agent.until_ended(1)

    assert (ended.killed_for, ended.signal) == (Reason.CANCELLED, signal.SIGKILL)


def test_process_that_cleans_up_behind_its_shell_is_asked_once(
    agent: Agent, tmp_path: Path
) -> None:
    """The shell of `CMD & wait` ends at once; what it leaves has got the same SIGTERM."""
    said, done = tmp_path / "said", tmp_path / "done"
    script = f"({CLEANER.format(said=said, done=done)}) & wait"
    agent.start(process(1, "sh", "-c", script, grace_ms=60_000))
    _until_lines(said, 1)
    agent.kill(1, reason=Reason.CANCELLED, grace_ms=60_000)
    ended = agent.until_ended(1)
    _until_lines(said, 2)
    agent.run("true", job_id=2)
    left = left_of(agent)
    done.touch()
    until_gone(*left)

    assert ended.signal == signal.SIGTERM
    assert said.read_text() == "ready\nasked\n"


def test_process_may_write_while_it_cleans_up(agent: Agent, tmp_path: Path) -> None:
    """Much, and after the shell has ended; nobody keeps it, but it must not end the process."""
    said, go = tmp_path / "said", tmp_path / "go"
    script = f"""
        (trap "while [ ! -e {go} ]; do sleep 0.01; done
            head -c 1000000 /dev/zero; echo bye; echo bye >&2; echo clean >> {said}; exit" TERM
        echo ready >> {said}
        while :; do sleep 0.01; done) & wait
    """
    agent.start(process(1, "sh", "-c", script, grace_ms=60_000))
    _until_lines(said, 1)
    agent.kill(1, reason=Reason.CANCELLED, grace_ms=60_000)
    ended = agent.until_ended(1)
    agent.run("true", job_id=2)
    go.touch()
    _until_lines(said, 2)
    until_gone(*left_of(agent))

    assert ended.signal == signal.SIGTERM
    assert agent.output(ended)[0] == b""


def test_process_that_a_short_job_leaves_may_write(agent: Agent, tmp_path: Path) -> None:
    said, go = tmp_path / "said", tmp_path / "go"
    script = f"""
        trap "" TERM
        (while [ ! -e {go} ]; do sleep 0.01; done
            head -c 1000000 /dev/zero; echo bye; echo clean >> {said}) & exit 3
    """
    ended = agent.run("sh", "-c", script, grace_ms=60_000)
    agent.run("true", job_id=2)
    go.touch()
    _until_lines(said, 1)

    assert (ended.exit_code, agent.output(ended)[0]) == (3, b"")


def test_kill_reaches_children_that_fled(agent: Agent) -> None:
    """A new session, an own environment, a double fork: all of them end with the attempt."""
    script = """
        setsid sleep 1001 &
        env -i setsid sleep 1002 &
        (setsid sh -c 'trap "" TERM; sleep 1003; sleep 1004' &)
        (env -i setsid sleep 1005 &)
        sleep 1006
    """
    agent.begin(process(1, "sh", "-c", script, grace_ms=100))
    seen = _until_seen("1001", "1002", "1003", "1005", "1006")

    agent.kill(1, reason=Reason.CANCELLED, grace_ms=100)

    assert agent.until_ended(1).killed_for == Reason.CANCELLED
    until_gone(*seen)


async def test_next_agent_kills_what_a_dead_spawner_left(plain_spawner: SpawnerProcess) -> None:
    """Without a PID namespace nobody else does it."""
    agent = plain_spawner.connect()
    agent.begin(process(1, "sh", "-c", "setsid sleep 1007 & sleep 1008"))
    left = _until_seen("1007", "1008")
    plain_spawner.kill()
    alive = {pid for pid in left if Path(f"/proc/{pid}").exists()}

    await clear_away(_files_in(plain_spawner.root))

    assert alive == left
    until_gone(*left)


@contextmanager
def stranger() -> Iterator[int]:
    """Start a process in a fresh PID namespace, as a container does; give its id on this host."""
    outer = subprocess.Popen([*NAMESPACE, "sleep", "1009"])
    try:
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
        until_so(lambda: bool(children.read_text()))
        yield int(children.read_text().split()[0])
    finally:
        outer.kill()
        outer.wait()


def _started_ticks(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19])


def _files_in(root: Path, lock: SpawnerLock | None = None) -> SpawnerFiles:
    if lock is not None:
        (root / "s.lock").write_bytes(msgspec.json.encode(lock))
    return SpawnerFiles(root / "s.sock", root / "s.lock", root, root, root, root / "own.log")


@pytest.mark.skipif(not has_namespaces(), reason="the kernel lends no PID namespace")
@pytest.mark.parametrize("boot_id", ["an earlier boot", read_boot_id()])
async def test_number_of_a_namespace_that_was_reused_kills_nobody(
    tmp_path: Path, boot_id: str
) -> None:
    """The kernel gives the inode number of a dead spawner's namespace to the next one."""
    with stranger() as pid:
        inode = Path(f"/proc/{pid}/ns/pid").stat().st_ino
        lock = SpawnerLock("gone", 1, inode, boot_id, _started_ticks(pid) - 1)
        await clear_away(_files_in(tmp_path, lock))

        assert read_process(pid) is not None
        assert not read_process(pid).is_zombie  # type: ignore[union-attr]


@pytest.mark.skipif(not has_namespaces(), reason="the kernel lends no PID namespace")
async def test_next_spawner_waits_until_the_namespace_of_the_dead_one_is_empty(
    tmp_path: Path,
) -> None:
    with stranger() as pid:
        inode = Path(f"/proc/{pid}/ns/pid").stat().st_ino
        lock = SpawnerLock("gone", 1, inode, read_boot_id(), _started_ticks(pid))
        clearing = asyncio.create_task(clear_away(_files_in(tmp_path, lock)))
        done, _ = await asyncio.wait({clearing}, timeout=0.1)
        os.kill(pid, signal.SIGKILL)
        await clearing

    assert not done


def _until_seen(*seconds: str) -> set[int]:
    """Wait until these sleeps run; the next one appears soon, and there is nothing to wait on."""
    for _ in range(1_000_000):
        found = [_sleeps(word) for word in seconds]
        if all(found):
            return {pid for pids in found for pid in pids}
    raise AssertionError(seconds)


def _sleeps(word: str) -> list[int]:
    line = f"sleep\0{word}\0".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cmdline").read_bytes() == line:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_what_a_job_leaves_behind_is_killed_and_its_end_is_not_delayed(agent: Agent) -> None:
    script = "for i in $(seq 200); do sleep 2001 & done; (trap '' TERM; exec sleep 2002) & exit 0"
    ended = agent.run("sh", "-c", script, grace_ms=200)

    assert (ended.exit_code, ended.killed_for) == (0, None)
    until_gone(*_sleeps("2001"), *_sleeps("2002"))
    assert agent.run("true", job_id=2).exit_code == 0


def test_daemon_of_a_running_job_is_left_alone_until_the_job_ends(agent: Agent) -> None:
    script = "(setsid sh -c 'sleep 2003' &); read line; echo $line"
    agent.start(process(1, "sh", "-c", f"{script} < $FIFO", env={"FIFO": "/dev/null"}))
    agent.until_ended(1)
    until_gone(*_sleeps("2003"))

    agent.begin(process(2, "sh", "-c", "(setsid sleep 2004 &); sleep 60"))
    for job_id in range(3, 8):
        agent.run("true", job_id=job_id)
    (daemon,) = _sleeps("2004")
    agent.kill(2, reason=Reason.CANCELLED)
    agent.until_ended(2)

    until_gone(daemon)


def test_output_of_what_is_left_is_not_waited_for(agent: Agent) -> None:
    ended = agent.run("sh", "-c", "(trap '' TERM; sleep 1; echo late) & echo soon", grace_ms=100)

    assert agent.output(ended)[0] == b"soon\n"


async def test_zombies_of_a_lone_job_are_reaped(
    agent: Agent, spawner: SpawnerProcess, tmp_path: Path
) -> None:
    script = f"for i in $(seq 50); do (true &) ; done; touch {tmp_path}/made; exec sleep 600"
    agent.start(process(1, "sh", "-c", script))

    await until((tmp_path / "made").exists)
    children = Path(f"/proc/{spawner.pid}/task/{spawner.pid}/children")
    await until(lambda: len(children.read_text().split()) == 1)


def test_kill_without_grace_is_at_once(agent: Agent) -> None:
    agent.begin(process(1, "sh", "-c", 'trap "" TERM; while :; do sleep 1; done'))
    agent.kill(1, reason=Reason.PREEMPTED, grace_ms=0)

    assert agent.until_ended(1).signal == signal.SIGKILL


def test_kill_of_one_that_waits_ends_it_unstarted(agent: Agent) -> None:
    agent.start(process(1, "sleep", "60", cpu_m=2000), process(2, "true"))
    agent.kill(2, reason=Reason.CANCELLED)

    ended = agent.until_ended(2)
    assert (ended.killed_for, ended.started_ns, ended.exit_code) == (Reason.CANCELLED, 0, None)


def test_withdrawn_are_those_that_were_not_started(agent: Agent) -> None:
    agent.start(*(process(job_id, "sleep", "60") for job_id in range(1, 5)))
    agent.until_started(2)
    agent.send(Withdraw([key_of(job_id) for job_id in range(1, 6)]))

    assert agent.until_withdrawn(2) == [key_of(3), key_of(4)]


def test_what_passes_others_starts_as_soon_as_it_has_room(agent: Agent) -> None:
    agent.start(process(1, "sleep", "60"), process(2, "sleep", "60", cpu_m=2000))
    agent.start(process(3, "true", passes=True), process(4, "true"))
    ended = agent.until_ended(3)
    agent.send(Withdraw([key_of(job_id) for job_id in range(1, 5)]))

    assert ended.exit_code == 0
    assert agent.until_withdrawn(2) == [key_of(2), key_of(4)]


@pytest.mark.parametrize("how", ["quit", "sigterm"])
def test_quit_ends_everything(agent: Agent, spawner: SpawnerProcess, how: str) -> None:
    script = "setsid sleep 3001 & trap '' TERM; while :; do sleep 3002; done"
    agent.start(process(1, "sh", "-c", script), process(2, "sleep", "3003"))
    agent.until_started(2)
    left = left_of(agent)
    assert len(left) >= 3

    if how == "quit":
        agent.quit()
        spawner.process.wait(10)
    else:
        spawner.stop()

    until_gone(*left)
    assert left_of(agent) == set()
