"""How a process ends, how one that cannot be started is reported, and what comes meanwhile."""

import fcntl
import os
import resource
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from weft.core.states import Reason
from weft.wire.spawner import Framer, ProcessEnd, Start, Welcome, Withdraw
from weft.worker.spawner.reports import KeptEnds
from worker.spawner_process import VARIANT, Agent, SpawnerProcess, key_of, process


def test_exit_code_output_and_usage_are_reported(agent: Agent) -> None:
    work = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    ended = agent.run("sh", "-c", f"{work}; echo hi; echo oops >&2; exit 3")

    assert ended.exit_code == 3
    assert (ended.signal, ended.failure, ended.killed_for) == (None, None, None)
    assert agent.output(ended) == (b"hi\n", b"oops\n", 0)
    assert (ended.stdout_bytes, ended.stderr_bytes, ended.truncated) == (3, 5, False)
    assert 0 < ended.started_ns < ended.ended_ns
    assert ended.memory_peak_bytes > 0
    assert ended.cpu_ms > 5


def test_process_of_no_duration(agent: Agent) -> None:
    ended = agent.run("true")

    assert ended.exit_code == 0
    assert (ended.segment, ended.offset) == (None, None)


def test_no_command_is_a_no_op(agent: Agent) -> None:
    ended = agent.run()

    assert ended.exit_code == 0
    assert ended.started_ns > 0


def test_signal_is_reported(agent: Agent) -> None:
    ended = agent.run("sh", "-c", "kill -SEGV $$")

    assert (ended.exit_code, ended.signal) == (None, 11)


def test_ends_are_kept_for_the_next_agent(tmp_path: Path) -> None:
    """One for which there is no room harms no other, and who kills a worker as a whole may kill
    its jobs first: these run again.
    """
    path, timeout = tmp_path / "ends", Reason.TIMEOUT
    kinds = enumerate([(9, None), (9, timeout), (None, None), (None, None)])
    ends = [ProcessEnd(key_of(n), 1, 2, signal=by, killed_for=why) for n, (by, why) in kinds]
    kept = KeptEnds(str(path), "i")
    kept.add(ends[:2])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 9, hard))
    kept.add(ends[2:3])
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    kept.add(ends[3:])
    bodies = Framer().feed(path.read_bytes())

    found = [end for body in bodies for end in msgspec.msgpack.decode(body, type=Welcome).ended]
    assert found == [ends[1], ends[3]]


def test_missing_program_is_named(agent: Agent) -> None:
    ended = agent.run("no-such-program", "x")

    assert ended.failure == Reason.NO_PROGRAM
    assert "'no-such-program'" in ended.message
    assert "in the job's PATH; a job with the command `printenv PATH`" in ended.message
    assert "/bin" not in ended.message
    assert ended.started_ns == 0
    assert agent.run("true", job_id=2).exit_code == 0


@pytest.mark.parametrize("path", ["/no/such/program", "/etc/passwd", "/etc", "/etc/passwd/x"])
def test_what_is_no_program_is_named(agent: Agent, path: str) -> None:
    ended = agent.run(path)

    assert ended.failure == Reason.NO_PROGRAM
    assert path in ended.message


def test_missing_directory_is_a_bad_spec(agent: Agent) -> None:
    ended = agent.run("true", cwd="/no/such/directory")

    assert ended.failure == Reason.BAD_SPEC
    assert "/no/such/directory" in ended.message


def test_what_no_program_can_be_given_is_refused(agent: Agent) -> None:
    for argv, env in [
        (("echo", "a\0b"), {}),
        (("echo",), {"A\0B": "x"}),
        (("echo",), {"A=B": "x"}),
        (("echo", "x" * 200_000), {}),
        (("a\0b",), {}),
    ]:
        ended = agent.run(*argv, env=env)

        assert ended.failure in {Reason.BAD_SPEC, Reason.NO_PROGRAM}
        assert agent.run("true", job_id=2).exit_code == 0


def test_empty_program_name_is_refused(agent: Agent) -> None:
    assert agent.run("").failure == Reason.NO_PROGRAM


def make_program(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_missing_interpreter_is_named(agent: Agent, tmp_path: Path) -> None:
    program = make_program(tmp_path / "p", "#!/no/such/interpreter\n")

    ended = agent.run(program)

    assert ended.failure == Reason.NO_PROGRAM
    assert "/no/such/interpreter" in ended.message


def test_script_without_interpreter_is_run_by_the_shell(agent: Agent, tmp_path: Path) -> None:
    program = make_program(tmp_path / "p", 'echo "$1"\n')

    assert agent.output(agent.run(program, "a b"))[0] == b"a b\n"


def test_program_is_found_in_the_path_of_the_job(agent: Agent, tmp_path: Path) -> None:
    make_program(tmp_path / "only-here", "#!/bin/sh\necho found\n")

    ended = agent.run("only-here", env={"PATH": f"/nowhere:{tmp_path}"})

    assert agent.output(ended)[0] == b"found\n"


def test_relative_program_is_looked_up_in_the_directory_of_the_job(
    agent: Agent, tmp_path: Path
) -> None:
    make_program(tmp_path / "here", "#!/bin/sh\npwd\n")

    ended = agent.run("./here", cwd=str(tmp_path))

    assert agent.output(ended)[0].decode().strip() == str(tmp_path)


def test_script_becomes_a_program_and_is_removed(agent: Agent, spawner: SpawnerProcess) -> None:
    ended = agent.run("x", script='#!/bin/sh\necho "$# $1"\n')

    assert agent.output(ended)[0] == b"1 x\n"
    assert list((spawner.scratch / "scripts").iterdir()) == []


def test_standard_input(agent: Agent) -> None:
    assert agent.output(agent.run("cat", stdin="ä" * 100_000))[0] == ("ä" * 100_000).encode()
    assert agent.output(agent.run("cat", job_id=2))[0] == b""


def test_environment_is_what_was_sent_and_the_mark(agent: Agent) -> None:
    ended = agent.run("env", env={"A": "1"})

    mark = f"WEFT_ATTEMPT=b1.j1.1@{agent.welcome.incarnation}"
    lines = set(agent.output(ended)[0].decode().split())
    (checkpoint,) = (line for line in lines if line.startswith("WEFT_CHECKPOINT_DIR="))
    assert lines == {"A=1", mark, checkpoint, "PATH=/usr/local/bin:/usr/bin:/bin"}


def test_signals_and_priority_are_as_in_a_fresh_program(agent: Agent) -> None:
    """Python ignores SIGPIPE; a job that did would not end in `yes | head`."""
    words = "grep -E 'Sig(Blk|Ign)' /proc/self/status; nice; ps -o ni= $PPID; nice -n -10 nice"
    ended = agent.run("sh", "-c", words)

    of_libc = 0x3 << 31  # two that the C library keeps to itself
    *lines, priority, of_spawner, possible = agent.output(ended)[0].splitlines()
    assert [int(line.split()[1], 16) & ~of_libc for line in lines] == [0, 0]
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    assert (int(priority), int(of_spawner)) == (usual, usual or int(possible))


def test_only_the_three_streams_are_open(agent: Agent) -> None:
    ended = agent.run("sh", "-c", "ls /proc/$$/fd")

    assert agent.output(ended)[0].split() == [b"0", b"1", b"2"]


def test_directory_of_its_own_is_empty_and_removed(agent: Agent, spawner: SpawnerProcess) -> None:
    script = "pwd; ls -A; mkdir -p a/b; echo x > a/b/c; echo x > d"
    places = set()
    for job_id in range(1, 6):
        output = agent.output(agent.run("sh", "-c", script, job_id=job_id, cwd=None))[0]
        (place,) = output.decode().split()
        places.add(place)

    assert len(places) == 5
    assert all(place.startswith(str(spawner.scratch)) for place in places)


def test_untouched_directory_serves_again(agent: Agent) -> None:
    places = {agent.output(agent.run("pwd", job_id=job_id, cwd=None))[0] for job_id in range(1, 6)}

    assert len(places) == 1


def test_directory_is_private(agent: Agent) -> None:
    ended = agent.run("stat", "-c", "%a %u", ".", cwd=None)

    assert agent.output(ended)[0].split() == [b"700", str(os.getuid()).encode()]


def test_key_that_is_known_is_ignored(agent: Agent) -> None:
    agent.start(process(1, "echo", "1"), process(1, "echo", "2"))
    first = agent.until_ended(1)
    agent.start(process(1, "echo", "3"), process(2, "true"))
    agent.until_ended(2)

    assert agent.output(first)[0] == b"1\n"
    assert key_of(1) not in agent.ended


def test_message_that_is_none_closes_the_connection_only(spawner: SpawnerProcess) -> None:
    agent = spawner.connect()
    agent.start(process(1, "sleep", "0.3"))
    agent.send_bytes(b"\0\0\0\x04junk")

    assert agent.is_closed_by_spawner()

    welcome = spawner.connect().welcome
    known = [one.key for one in welcome.live] + [one.key for one in welcome.ended]
    assert known == [key_of(1)]


def test_many_environments(agent: Agent) -> None:
    agent.send(
        Start(
            [{"PATH": "/bin", "A": "1"}, {"PATH": "/bin", "A": "2"}],
            [
                process(1, "sh", "-c", "echo $A", environment=0),
                process(2, "sh", "-c", "echo $A", environment=1),
                process(3, "sh", "-c", "echo $A", environment=1, env={"A": "3"}),
            ],
        )
    )

    outputs = [agent.output(agent.until_ended(job_id))[0] for job_id in (1, 2, 3)]
    assert outputs == [b"1\n", b"2\n", b"3\n"]


@pytest.fixture
def go(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Let starts go on; until then they wait."""
    with (tmp_path / "gate").open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield lambda: fcntl.flock(gate, fcntl.LOCK_UN)


@pytest.fixture
def held(tmp_path: Path, go: Callable[[], None]) -> Iterator[SpawnerProcess]:
    spawner = SpawnerProcess(tmp_path, program=(VARIANT, "held"))
    yield spawner
    go()
    spawner.stop()


def test_kill(held: SpawnerProcess, go: Callable[[], None]) -> None:
    agent = held.connect()
    agent.start(process(1, "sleep", "60"), process(2, cpu_m=1))
    agent.until_ended(2)  # so the first has left the queue
    agent.kill(1, reason=Reason.CANCELLED, grace_ms=0)
    agent.start(process(3, cpu_m=1))
    agent.until_ended(3)
    go()
    ended = agent.until_ended(1)

    assert (ended.killed_for, ended.exit_code) == (Reason.CANCELLED, None)


def test_kill_of_one_that_cannot_be_started(held: SpawnerProcess, go: Callable[[], None]) -> None:
    agent = held.connect()
    agent.start(process(1, "/nothing/here"), process(2, cpu_m=1))
    agent.until_ended(2)
    agent.kill(1, reason=Reason.CANCELLED, grace_ms=0)
    agent.start(process(3, cpu_m=1))
    agent.until_ended(3)
    go()

    assert agent.until_ended(1).killed_for == Reason.CANCELLED


def test_agent_that_comes_back_is_told_of_it(held: SpawnerProcess, go: Callable[[], None]) -> None:
    first = held.connect()
    first.start(process(1, "sleep", "60"), process(2, cpu_m=1))
    first.until_ended(2)
    threading.Timer(0.3, go).start()
    second = held.connect()

    assert [one.key for one in second.welcome.live] == [key_of(1)]


def test_spawner_that_ends_leaves_nothing(held: SpawnerProcess, go: Callable[[], None]) -> None:
    agent = held.connect()
    agent.start(process(1, "sleep", "60"), process(2, cpu_m=1))
    agent.until_ended(2)
    threading.Timer(0.3, go).start()
    held.stop()

    assert held.process.returncode == 0


def test_what_was_prepared_is_undone_when_it_is_taken_back(tmp_path: Path) -> None:
    with SpawnerProcess(tmp_path) as spawner:
        agent = spawner.connect(cpu_m=1000)
        agent.begin(process(1, "sleep", "60"))
        before = open_files(spawner)
        jobs = range(2, 12)
        agent.start(*(process(job_id, "cat", stdin="x" * 100) for job_id in jobs))
        spawner.connect(cpu_m=1000)
        agent = spawner.connect(cpu_m=1000)  # two turns of its loop: some are prepared now
        prepared = open_files(spawner)
        agent.send(Withdraw([*map(key_of, jobs)]))
        agent.until_withdrawn(len(jobs))

        assert before < prepared
        assert open_files(spawner) == before


def open_files(spawner: SpawnerProcess) -> int:
    return len(list(Path(f"/proc/{spawner.pid}/fd").iterdir()))


def umasks_of(program: Sequence[str], tmp_path: Path, masks: Sequence[int | None]) -> list[int]:
    """Start processes with these umasks at the same time; return the umask each of them had."""
    with SpawnerProcess(tmp_path, program=tuple(program)) as spawner:
        agent = spawner.connect(cpu_m=64_000)
        files = {n: tmp_path / f"umask-{n}" for n in range(1, len(masks) + 1)}
        agent.start(
            *(
                process(n, "/bin/sh", "-c", f"umask > {file}", cpu_m=100, umask=mask)
                for (n, file), mask in zip(files.items(), masks, strict=True)
            )
        )
        for n in files:
            agent.until_ended(n)
        return [int(file.read_text(), 8) for file in files.values()]


@pytest.mark.parametrize("change", ["threads", "umask"])
def test_each_process_has_its_own_umask(tmp_path: Path, change: str) -> None:
    masks = [0o077, None, 0o007, 0o022, None] * 8
    ours = os.umask(0o022)
    os.umask(ours)

    found = umasks_of((VARIANT, change), tmp_path, masks)

    assert found == [ours if mask is None else mask for mask in masks]
