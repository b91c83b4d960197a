"""Calls in warm processes of a real spawner: results, ends, reuse and isolation."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import msgspec
import pytest

from weft.core.ends.conditions import Ask, Blocked, read_ask
from weft.core.errors import ResultTooLarge
from weft.core.states import AttemptKey, Reason
from weft.wire.function import CONTROL_FD, CallBody, Definition
from weft.wire.spawner import Kill, Start, WarmLimits
from worker.calls import Caller, call_of
from worker.spawner_process import PATH, SpawnerProcess, marked, until_gone

cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture
def caller(spawner: SpawnerProcess) -> Iterator[Caller]:
    """Return an agent of each kind of spawner."""
    agent = spawner.connect()
    yield Caller(agent, spawner.logs)
    agent.close()


@pytest.fixture
def plain_caller(plain_spawner: SpawnerProcess) -> Iterator[Caller]:
    """Return an agent of a spawner without a namespace: pids are those of this host."""
    agent = plain_spawner.connect()
    yield Caller(agent, plain_spawner.logs)
    agent.close()


def key(job_id: int, batch_id: int = 1) -> AttemptKey:
    return AttemptKey(batch_id, job_id, 1)


def double(number: int) -> int:
    return 2 * number


def fail(message: str) -> None:
    raise ValueError(message)


def wait_for_ever() -> None:
    threading.Event().wait()


def test_a_function_is_called_and_its_value_kept(caller: Caller) -> None:
    assert caller.call(key(1), double, 21) == 42


def test_jobs_of_a_batch_share_a_process(caller: Caller) -> None:
    pids = {caller.call(key(number), os.getpid) for number in range(1, 6)}

    assert len(pids) == 1


def test_batches_and_environments_share_none(caller: Caller) -> None:
    first = caller.call(key(1, batch_id=1), os.getpid)
    other_batch = caller.call(key(1, batch_id=2), os.getpid)
    caller.env = {"PATH": PATH, "COLOUR": "red"}
    other_environment = caller.call(key(2, batch_id=1), os.getpid)
    caller.env = {"PATH": PATH}
    again = caller.call(key(3, batch_id=1), os.getpid)

    assert len({first, other_batch, other_environment}) == 3
    assert again == first


def test_an_exception_is_a_result_with_its_traceback(caller: Caller) -> None:
    caller.start(key(1), fail, "no luck")
    ended = caller.agent.until(key(1))
    head, _, _ = caller.result(ended)

    with pytest.raises(ValueError, match="no luck"):
        caller.value(ended)
    assert (ended.exit_code, ended.failure) == (1, None)
    assert "in fail" in head.traceback
    assert "make_call" not in head.traceback
    assert caller.agent.output(ended)[1].decode() == head.traceback


def test_a_blocked_call_says_what_it_waits_for(caller: Caller, tmp_path: Path) -> None:
    def wait() -> None:
        raise Blocked("quota", "tcp", {"host": "db", "port": 1})

    caller.env["WEFT_BLOCK_FILE"] = str(tmp_path / "block")
    caller.start(key(1), wait)
    ended = caller.agent.until(key(1))

    assert (ended.exit_code, ended.failure) == (75, None)
    assert read_ask((tmp_path / "block").read_bytes())[0] == Ask(
        "quota", "tcp", {"host": "db", "port": "1"}
    )
    with pytest.raises(Blocked, match="waits for quota") as caught:
        caller.value(ended)
    assert caught.value.ask.tester == "tcp"


@pytest.mark.parametrize("file", [None, "/nowhere/file"])
def test_a_blocked_call_without_a_file_waits_for_its_date(
    caller: Caller, file: str | None
) -> None:
    def wait() -> None:
        raise Blocked

    if file is not None:
        caller.env["WEFT_BLOCK_FILE"] = file
    caller.start(key(1), wait)

    assert caller.agent.until(key(1)).exit_code == 75


def test_leaving_by_an_exception_is_an_exception(caller: Caller) -> None:
    with pytest.raises(SystemExit):
        caller.call(key(1), sys.exit, 0)


def test_what_cannot_be_pickled_is_an_error_of_the_call(caller: Caller) -> None:
    with pytest.raises(TypeError, match="cannot pickle"):
        caller.call(key(1), threading.Lock)


def test_an_exception_that_cannot_be_pickled_leaves_its_traceback(caller: Caller) -> None:
    class Odd(Exception):
        def __reduce__(self) -> tuple[Any, ...]:
            raise RuntimeError("never")

    def odd() -> None:
        raise Odd

    caller.start(key(1), odd)
    head, value, error = caller.result(caller.agent.until(key(1)))

    assert (value, error) == (b"", b"")
    assert head.traceback.splitlines()[-1].endswith("Odd")


def test_a_long_result_is_a_file_and_too_long_a_one_an_error(
    plain_spawner: SpawnerProcess, plain_caller: Caller
) -> None:
    assert plain_caller.call(key(1), lambda: b"x" * 500_000) == b"x" * 500_000
    with pytest.raises(ResultTooLarge):
        plain_caller.call(key(2), lambda: b"x" * 2_000_000)

    files = [path.name for path in plain_spawner.logs.rglob("*.result")]
    assert files == ["1.1.result"]


def test_what_a_call_prints_is_its_output(caller: Caller) -> None:
    def talk(word: str) -> None:
        sys.stdout.write(f"{word}\n")
        sys.stderr.write(f"{word.upper()}\n")
        subprocess.run(["echo", "child", word], check=True)

    for number, word in enumerate(("one", "two"), 1):
        caller.start(key(number), talk, word)
        stdout, stderr, _ = caller.agent.output(caller.agent.until(key(number)))

        assert sorted(stdout.decode().splitlines()) == sorted([word, f"child {word}"])
        assert stderr.decode() == f"{word.upper()}\n"


def test_a_result_beside_a_long_output_is_kept(caller: Caller) -> None:
    def talk() -> str:
        sys.stdout.write("x" * 300_000)
        return "done"

    caller.start(key(1), talk)
    ended = caller.agent.until(key(1))

    assert len(caller.agent.output(ended)[0]) == 300_000
    assert caller.value(ended) == "done"


def test_each_job_has_a_directory_and_variables_of_its_own(caller: Caller) -> None:
    def look() -> tuple[list[str], str]:
        found = [path.name for path in Path().iterdir()]
        Path("mine").touch()
        return found, os.environ["WEFT_JOB"]

    assert caller.call(key(1), look) == ([], "b1.j1")
    assert caller.call(key(2), look) == ([], "b1.j2")


def secrets_of_the_call() -> tuple[int, str | None, str | None, str | None]:
    directory = os.environ.get("WEFT_SECRETS_DIR")
    text = None if directory is None else Path(directory, "key").read_text()
    return os.getpid(), directory, text, os.environ.get("DB")


def test_a_call_has_its_secrets_and_the_next_one_has_none(caller: Caller) -> None:
    caller.env["DB"] = "of the document"
    files, env = {"key": "canary"}, {"DB": "of the secret", "WEFT_JOB": "b1.j1"}
    pid, directory, *found = caller.call(key(1), secrets_of_the_call, memory_files=files, env=env)

    assert found == ["canary", "of the secret"]
    assert caller.call(key(2), secrets_of_the_call) == (pid, None, None, "of the document")
    deadline = time.monotonic() + 60
    while Path(directory).exists():
        assert time.monotonic() < deadline


def test_calls_of_one_job_stop_at_the_first_error(caller: Caller) -> None:
    def invert(number: int) -> float:
        return 1 / number

    definition = msgspec.msgpack.encode(Definition(cloudpickle.dumps(invert), None, ()))
    body = CallBody(arguments=cloudpickle.dumps([(1,), (2,), (0,), (4,)]), each=True)
    caller.agent.send(Start([caller.env], [call_of(key(1), body)], [(1, definition)]))
    head, value, error = caller.result(caller.agent.until(key(1)))

    assert cloudpickle.loads(value) == [1.0, 0.5]
    assert isinstance(cloudpickle.loads(error), ZeroDivisionError)
    assert head.seconds > 0


def test_a_function_has_a_name_and_json_for_arguments(caller: Caller) -> None:
    body = CallBody("math:hypot", (3, 4))
    caller.agent.send(Start([caller.env], [call_of(key(1), body, None)]))
    head, value, _ = caller.result(caller.agent.until(key(1)))

    assert (head.form, value) == ("json", b"5.0")


def test_a_name_that_is_nowhere_is_an_exception(caller: Caller) -> None:
    body = CallBody("no_such_module:f")
    caller.agent.send(Start([caller.env], [call_of(key(1), body, None)]))

    with pytest.raises(ModuleNotFoundError):
        caller.value(caller.agent.until(key(1)))


def test_a_function_of_another_python_is_refused(caller: Caller) -> None:
    definition = msgspec.msgpack.encode(Definition(b"", "2.7", ()))
    caller.agent.send(Start([caller.env], [call_of(key(1), CallBody())], [(1, definition)]))
    ended = caller.agent.until(key(1))

    assert ended.failure == Reason.BAD_SPEC
    assert "2.7" in ended.message


def test_a_directory_that_is_nowhere_is_told(caller: Caller) -> None:
    caller.start(key(1), double, 1, cwd="/no/such/place")

    assert caller.agent.until(key(1)).failure == Reason.BAD_SPEC
    assert caller.call(key(2), double, 1) == 2


@pytest.mark.parametrize(
    ("end", "exit_code", "number", "failure"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), None, signal.SIGSEGV, None),
        (lambda: os._exit(3), 3, None, None),
        (lambda: os._exit(0), None, None, Reason.EXIT),
    ],
)
def test_a_crash_ends_the_job_and_no_other(
    caller: Caller,
    end: Callable[[], None],
    exit_code: int | None,
    number: int | None,
    failure: int | None,
) -> None:
    caller.start(key(1), end)
    ended = caller.agent.until(key(1))

    assert (ended.exit_code, ended.signal, ended.failure) == (exit_code, number, failure)
    assert caller.call(key(2), double, 2) == 4


def test_a_call_that_takes_too_long_is_killed(caller: Caller) -> None:
    before = caller.call(key(1), os.getpid)
    caller.start(key(2), wait_for_ever, timeout_ms=100)
    ended = caller.agent.until(key(2))

    assert ended.killed_for == Reason.TIMEOUT
    assert caller.call(key(3), os.getpid) != before


def test_a_cancelled_call_is_killed_with_its_process(caller: Caller) -> None:
    caller.start(key(1), wait_for_ever)
    caller.agent.until_started(1)
    caller.agent.send(Kill([key(1)], Reason.CANCELLED, 300))

    assert caller.agent.until(key(1)).killed_for == Reason.CANCELLED
    assert caller.call(key(2), double, 2) == 4


def test_one_that_does_not_listen_is_killed_after_the_grace(caller: Caller) -> None:
    def deaf() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        wait_for_ever()

    caller.start(key(1), deaf)
    caller.agent.until_started(1)
    caller.agent.send(Kill([key(1)], Reason.CANCELLED, 100))

    assert caller.agent.until(key(1)).killed_for == Reason.CANCELLED


def test_a_process_serves_so_many_calls(caller: Caller) -> None:
    caller.limit(WarmLimits(calls_max=3))
    pids = [caller.call(key(number), os.getpid) for number in range(1, 7)]

    assert len(set(pids[:3])) == len(set(pids[3:])) == 1
    assert pids[0] != pids[3]


def test_a_process_that_holds_too_much_serves_no_more(caller: Caller) -> None:
    def hoard() -> int:
        sys.modules["hoard"] = bytearray(80 << 20)  # type: ignore[assignment]
        return os.getpid()

    caller.limit(WarmLimits(memory_mib_max=64))
    pids = [caller.call(key(1), os.getpid), caller.call(key(2), hoard)]

    assert pids[0] == pids[1]
    assert caller.call(key(3), os.getpid) != pids[0]


def test_memory_of_its_programs_is_that_of_a_call(caller: Caller) -> None:
    peaks = []
    for number, mib in enumerate((100, 1, 200), 1):
        program = [sys.executable, "-c", f"bytearray({mib << 20})"]
        caller.start(key(number), subprocess.check_call, program)
        peaks.append(caller.agent.until(key(number)).memory_peak_bytes >> 20)

    assert peaks[0] >= 100 > peaks[1]
    assert peaks[2] >= 200


def test_memory_that_jobs_want_is_taken_from_idle_processes(plain_caller: Caller) -> None:
    plain_caller.limit(WarmLimits(), memory_mib=500)
    pid = plain_caller.call(key(1), os.getpid)
    plain_caller.call(key(2, batch_id=2), double, 1, memory_mib=499)

    until_gone(pid)


def test_an_idle_process_is_used_before_it_is_given_up(caller: Caller) -> None:
    caller.limit(WarmLimits(), memory_mib=500)
    pids = {caller.call(key(number), os.getpid, memory_mib=500) for number in range(1, 5)}

    assert len(pids) == 1


def test_an_idle_process_ends_by_itself(plain_caller: Caller) -> None:
    plain_caller.limit(WarmLimits(idle_ms=50))

    until_gone(plain_caller.call(key(1), os.getpid))


def test_what_a_call_leaves_behind_ends_with_its_process(plain_caller: Caller) -> None:
    def leave() -> tuple[int, int]:
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        return os.getpid(), child.pid

    pids = plain_caller.call(key(1), leave)

    until_gone(*pids)
    assert plain_caller.call(key(2), os.getpid) not in pids


def test_a_fork_that_comes_back_makes_no_second_answer(caller: Caller) -> None:
    def fork() -> int:
        return os.fork()

    assert caller.call(key(1), fork) > 0
    assert caller.call(key(2), double, 2) == 4


def test_a_job_that_writes_to_our_socket_harms_itself_only(caller: Caller) -> None:
    def chatter() -> None:
        os.write(CONTROL_FD, b"\xff" * 1000)
        wait_for_ever()

    caller.start(key(1), chatter)

    assert caller.agent.until(key(1)).signal == signal.SIGKILL
    assert caller.call(key(2), double, 2) == 4


def test_a_job_that_closes_its_streams_is_served_and_its_process_is_not_used_again(
    caller: Caller,
) -> None:
    def close() -> int:
        os.close(1)
        os.close(2)
        return os.getpid()

    first = caller.call(key(1), close)

    assert caller.call(key(2), os.getpid) != first


def test_many_calls_at_once_are_all_answered(caller: Caller) -> None:
    for number in range(1, 301):
        caller.start(key(number), double, number, cpu_m=500)

    values = [caller.value(caller.agent.until(key(number))) for number in range(1, 301)]
    assert values == [2 * number for number in range(1, 301)]


def test_running_calls_are_found_by_the_next_agent(spawner: SpawnerProcess) -> None:
    agent = spawner.connect()
    caller = Caller(agent, spawner.logs)
    caller.call(key(1), double, 1)
    caller.start(key(2), wait_for_ever)
    agent.until_started(2)
    agent.close()
    second = spawner.connect()

    assert [one.key for one in second.welcome.live] == [key(2)]
    second.send(Kill([key(2)], Reason.CANCELLED, 0))
    assert second.until(key(2)).killed_for == Reason.CANCELLED


def test_warm_processes_die_with_their_spawner(spawner: SpawnerProcess) -> None:
    caller = Caller(spawner.connect(), spawner.logs)
    mark = f"mark-{spawner.root.name}"
    caller.env = {"PATH": PATH, "MARK": mark}
    caller.call(key(1), double, 1)
    pids = marked(mark)
    assert pids

    spawner.kill()
    until_gone(*pids)


def test_an_environment_in_which_python_cannot_start_fails_the_job(caller: Caller) -> None:
    caller.env = {"PATH": PATH, "PYTHONHOME": "/nowhere"}
    caller.start(key(1), double, 1)
    ended = caller.agent.until(key(1))

    assert ended.exit_code == 1
    with contextlib.suppress(ValueError):
        assert caller.agent.output(ended)[1]
