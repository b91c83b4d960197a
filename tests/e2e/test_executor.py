"""`weft.Executor` on a real weft: results, exceptions, cancellation, ends of processes."""

import asyncio
import gc
import json
import operator
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, as_completed, wait
from functools import partial
from itertools import pairwise
from pathlib import Path
from queue import Queue
from typing import Any

import cloudpickle
import pytest

import weft as weft_package
from e2e.conftest import Weft, until
from weft.client.functions.futures import WeftFuture
from weft.client.functions.pickles import RemoteTraceback
from weft.core.errors import CallDied, InvalidDocument, PayloadTooLarge, QuotaExceeded
from weft.core.ids import format_batch_id

# Workers do not have the modules of these tests.
cloudpickle.register_pickle_by_value(sys.modules[__name__])
WITHIN_S = 60
LARGE_BYTES = 50_000_000
MakeExecutor = Callable[..., weft_package.Executor]


@pytest.fixture
def make(weft: Weft) -> Iterator[MakeExecutor]:
    """Return executors on this weft; they are shut down at the end."""
    made: list[weft_package.Executor] = []

    def one(**options: Any) -> weft_package.Executor:  # noqa: ANN401 (as the arguments)
        options = {"resources": {"cpu": 0.5, "memory": "32Mi"}, **options}
        made.append(weft_package.Executor(home=weft.home, **options))
        return made[-1]

    yield one
    for executor in made:
        executor.shutdown(wait=True, cancel_futures=True)


def square(number: int) -> int:
    return number * number


def reverse(data: bytes) -> bytes:
    return data[::-1]


def invert(number: int) -> float:
    return 1 / number


def begin_and_end(number: int) -> tuple[float, float]:
    begin = time.monotonic()
    sum(range(100_000 + number))
    return begin, time.monotonic()


def wait_for_ever() -> None:
    threading.Event().wait()


WORDS: list[str] = []


def prepare(word: str) -> None:
    WORDS.append(word)


def prepared() -> list[str]:
    return WORDS


def touch_and_wait(path: Path) -> None:
    path.touch()
    threading.Event().wait()


def test_what_a_function_returns(make: MakeExecutor) -> None:
    executor = make()
    offset = 3

    assert executor.submit(pow, 2, 100).result(WITHIN_S) == 2**100
    assert executor.submit(lambda number: number + offset, 4).result(WITHIN_S) == 7
    assert executor.submit(dict, one=1).result(WITHIN_S) == {"one": 1}


def test_an_exception_has_its_remote_traceback_as_cause(make: MakeExecutor) -> None:
    future = make().submit(invert, 0)

    error = future.exception(WITHIN_S)
    assert isinstance(error, ZeroDivisionError)
    assert isinstance(error.__cause__, RemoteTraceback)
    assert "in invert" in str(error.__cause__)
    assert (future.done(), future.cancelled()) == (True, False)


@pytest.mark.parametrize("chunksize", [None, 1, 7])
def test_map_yields_in_order(make: MakeExecutor, chunksize: int | None) -> None:
    executor = make()

    assert list(executor.map(square, range(50), chunksize=chunksize)) == [
        square(number) for number in range(50)
    ]
    assert list(executor.map(operator.add, [1, 2, 3], [10, 20], chunksize=chunksize)) == [11, 22]
    assert list(executor.map(square, [], chunksize=chunksize)) == []


@pytest.mark.parametrize("chunksize", [None, 1, 4])
def test_map_yields_what_there_is_before_an_exception(
    make: MakeExecutor, chunksize: int | None
) -> None:
    found = make().map(invert, [1, 2, 4, 0, 5], chunksize=chunksize)

    assert [next(found), next(found), next(found)] == [1, 0.5, 0.25]
    with pytest.raises(ZeroDivisionError):
        next(found)
    with pytest.raises(StopIteration):
        next(found)


def test_futures_work_with_the_functions_of_their_module(make: MakeExecutor) -> None:
    executor = make()
    futures = [executor.submit(square, number) for number in range(20)]

    assert {future.result() for future in as_completed(futures, WITHIN_S)} == {
        square(number) for number in range(20)
    }
    assert wait(futures, WITHIN_S).not_done == set()


def test_a_running_call_is_cancelled_on_request(make: MakeExecutor, tmp_path: Path) -> None:
    executor = make()
    future = executor.submit(touch_and_wait, tmp_path / "runs")
    until((tmp_path / "runs").exists)
    is_killed = future.cancel(running=True)

    assert is_killed
    assert (future.cancelled(), future.done()) == (True, True)
    with pytest.raises(CancelledError):
        future.result(WITHIN_S)
    executor.shutdown(wait=True)


def test_print_is_the_log_of_the_job(weft: Weft, make: MakeExecutor) -> None:
    executor = make()
    future = executor.submit(print, "hello from a function")
    future.result(WITHIN_S)

    log = weft.run("logs", f"b{executor.batch_id}.j{future.job_id}")
    assert log.stdout == b"hello from a function\n"


def test_a_call_whose_process_died_says_how(make: MakeExecutor) -> None:
    executor = make()

    with pytest.raises(CallDied, match=r"signal \(signal 11\)"):
        executor.submit(os.kill, 0, 11).result(WITHIN_S)
    with pytest.raises(CallDied, match=r"exit \(exit code 3\)"):
        executor.submit(os._exit, 3).result(WITHIN_S)
    with pytest.raises(CallDied, match="exit") as refused:
        executor.submit(os._exit, 0).result(WITHIN_S)
    assert "before the function returned" in refused.value.detail
    name = f"{format_batch_id(executor.batch_id or 0)}.j3"
    assert f"job {name} ended" in str(refused.value)
    assert refused.value.hint == f"`weft logs {name}` shows its output."
    assert executor.submit(square, 3).result(WITHIN_S) == 9


def test_a_call_that_takes_too_long_is_ended(make: MakeExecutor) -> None:
    with pytest.raises(CallDied, match="timeout"):
        make(timeout_s=0.2).submit(wait_for_ever).result(WITHIN_S)


@pytest.mark.heavy
def test_large_arguments_and_results_travel_both_ways(weft: Weft, make: MakeExecutor) -> None:
    data = os.urandom(LARGE_BYTES)
    part = data[: LARGE_BYTES // 10]
    executor = make()

    assert executor.submit(reverse, data).result(WITHIN_S) == data[::-1]
    assert executor.submit(reverse, data=part).result(WITHIN_S) == part[::-1]
    assert list(executor.map(len, [part, b"x", part], chunksize=3)) == [len(part), 1, len(part)]
    assert list((weft.home / "scratch").glob("*/arguments/*")) == []


def test_arguments_that_are_too_long_fail_their_call_only(make: MakeExecutor) -> None:
    executor = make()
    short = executor.submit(len, b"x")
    long = executor.submit(len, bytes((256 << 20) + 1))

    assert short.result(WITHIN_S) == 1
    with pytest.raises(PayloadTooLarge, match=r"268\d{6} bytes") as refused:
        long.result(WITHIN_S)
    assert "payload_bytes_max" in refused.value.detail


def test_a_function_that_is_too_large_fails_its_calls_only(make: MakeExecutor) -> None:
    """Also when calls of others stand in the same request; and of `map` its calls."""
    large = b"x" * (24 << 20)
    executor = make()
    futures = [executor.submit(pow, 2, n) for n in range(3)]
    refused = executor.submit(lambda: len(large))
    futures += [executor.submit(pow, 2, n) for n in range(3, 6)]
    assert [one.result(60) for one in futures] == [1, 2, 4, 8, 16, 32]
    with pytest.raises(PayloadTooLarge) as of_map:
        list(executor.map(lambda n: n + len(large), [1, 2]))
    for error in (refused.exception(60), of_map.value):
        assert isinstance(error, PayloadTooLarge)
        assert "is too large to travel" in str(error)
        assert "24.0 MiB" in str(error)
        assert "bunch" not in str(error)
    assert executor.submit(pow, 2, 7).result(60) == 128


def test_a_refused_batch_fails_its_calls_only(weft: Weft, make: MakeExecutor) -> None:
    user = json.loads(weft.told("whoami", "--json"))["user"]
    executor = make(patience_s=1)
    weft.told("quota", "set", "--user", user, "--batches", "0")
    try:
        with pytest.raises(QuotaExceeded):
            executor.submit(pow, 2, 3).result(60)
    finally:
        weft.told("quota", "set", "--user", user, "--batches", "none")
    assert executor.submit(pow, 2, 3).result(60) == 8


def test_resources_that_no_worker_has_fail_all_calls(make: MakeExecutor) -> None:
    executor = make(resources={"cpu": 4000})
    futures = [executor.submit(square, number) for number in range(30)]

    for future in futures:
        assert isinstance(future.exception(WITHIN_S), InvalidDocument)


def attempt_beyond(number: int) -> int:
    """Fail in attempts up to this one."""
    if (attempt := int(os.environ["WEFT_ATTEMPT_NO"])) <= number:
        raise ValueError(f"attempt {attempt}")
    return attempt


def test_calls_are_made_again_as_the_executor_says(make: MakeExecutor) -> None:
    """Once more for each call of its own, and for a chunk of them."""
    executor = make(max_attempts=3, retry={"policy": "constant", "wait_s": 0.05}, retry_with=None)
    future, hopeless = executor.submit(attempt_beyond, 2), executor.submit(attempt_beyond, 3)
    final = make(max_attempts=3, retry_on=["signal"]).submit(attempt_beyond, 1)

    assert future.result(WITHIN_S) == 3
    assert [*executor.map(attempt_beyond, [0, 1, 1], chunksize=2)] == [2, 2, 2]
    with pytest.raises(ValueError, match="attempt 3"):
        hopeless.result(WITHIN_S)
    with pytest.raises(ValueError, match="attempt 1"):
        final.result(WITHIN_S)


def test_wrong_retries_fail_all_calls(make: MakeExecutor) -> None:
    future = make(max_attempts=2, retry={"policy": "constant", "wait_s": -1}).submit(square, 2)

    assert isinstance(error := future.exception(WITHIN_S), InvalidDocument)
    assert [one.pointer for one in error.errors] == ["/jobs/0/retry/wait_s"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'retires'"):
        make(retires=2)


@pytest.mark.heavy
def test_pending_calls_are_cancelled_with_their_executor(
    make: MakeExecutor, tmp_path: Path
) -> None:
    executor = make(resources={"cpu": 2, "memory": "32Mi"})
    running = executor.submit(touch_and_wait, tmp_path / "runs")
    until(running.running)
    # A worker takes at most a thousand ahead.
    pending = [executor.submit(square, number) for number in range(1200)]
    executor.shutdown(wait=False, cancel_futures=True)

    assert not running.done()
    assert running.cancel(running=True)
    assert not wait(pending, WITHIN_S).not_done
    assert sum(future.cancelled() for future in pending) >= 200
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(square, 1)


def test_a_batch_that_somebody_cancels_cancels_its_futures(
    weft: Weft, make: MakeExecutor, tmp_path: Path
) -> None:
    executor = make()
    future = executor.submit(touch_and_wait, tmp_path / "runs")
    until((tmp_path / "runs").exists)
    assert weft.run("cancel", f"b{executor.batch_id}").returncode == 0

    with pytest.raises(CancelledError):
        future.result(WITHIN_S)


def test_its_workers_are_counted_as_those_of_a_process_pool(
    weft: Weft, make: MakeExecutor
) -> None:
    executor = make(max_workers=1)
    spans = sorted(executor.map(begin_and_end, range(6), chunksize=1))

    assert executor.batch_id is not None
    with weft_package.Client(home=weft.home) as client:
        assert client.get_batch(executor.batch_id).status()["max_running"] == 1
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
    with pytest.raises(ValueError, match="max_workers"):
        weft_package.Executor(0)


@pytest.mark.heavy
def test_map_gives_up_after_its_timeout(make: MakeExecutor) -> None:
    found = make(timeout_s=3).map(lambda _: wait_for_ever(), range(2), timeout=0.5)

    with pytest.raises(TimeoutError):
        next(found)


def test_functions_of_modules_beside_the_program_are_found(
    make: MakeExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside_the_program.py").write_text("def f(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import beside_the_program  # type: ignore[import-not-found]  # noqa: PLC0415

    assert make().submit(beside_the_program.f, 1).result(WITHIN_S) == 2


def test_without_a_server_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(weft_package.WeftError, match="no server is running"):
        weft_package.Executor(home=tmp_path)


def test_what_is_shut_down_without_waiting_goes_on(make: MakeExecutor, tmp_path: Path) -> None:
    executor = make()
    future = executor.submit((tmp_path / "made").touch)
    executor.shutdown(wait=False)

    assert future.result(WITHIN_S) is None
    assert (tmp_path / "made").exists()


async def test_it_serves_an_event_loop(make: MakeExecutor) -> None:
    loop = asyncio.get_running_loop()

    assert await loop.run_in_executor(make(), square, 5) == 25


def test_a_changed_closure_is_another_function(make: MakeExecutor) -> None:
    executor = make()
    factor = [1]

    def scale(number: int) -> int:
        return number * factor[0]

    before = executor.submit(scale, 10)
    factor[0] = 2
    after = executor.submit(scale, 10)

    assert (before.result(WITHIN_S), after.result(WITHIN_S)) == (10, 20)


def test_an_executor_may_be_shut_down_by_a_callback(make: MakeExecutor) -> None:
    executor = make()
    future = executor.submit(square, 3)
    others = [executor.submit(square, number) for number in range(5)]
    is_shut = threading.Event()

    def shut_down(_: object) -> None:
        executor.shutdown()
        is_shut.set()

    future.add_done_callback(shut_down)

    assert is_shut.wait(WITHIN_S)
    assert [other.result(WITHIN_S) for other in others] == [0, 1, 4, 9, 16]


def test_a_callback_that_would_wait_for_ever_is_told(make: MakeExecutor) -> None:
    executor = make()
    waits: list[Callable[[], object]] = [
        lambda: executor.submit(square, 2).result(),
        lambda: executor.submit(square, 2).exception(),
        lambda: list(executor.map(square, [2])),
    ]
    told: Queue[str] = Queue()

    def wait_in_callback(_: object, one: Callable[[], object]) -> None:
        with pytest.raises(RuntimeError) as refused:
            one()
        told.put(str(refused.value))

    for one in waits:
        executor.submit(square, 1).add_done_callback(partial(wait_in_callback, one=one))

    assert all("for ever" in told.get(timeout=WITHIN_S) for _ in waits)


@pytest.mark.heavy
def test_executors_that_nobody_shuts_down_are_collected(weft: Weft) -> None:
    def use_one() -> WeftFuture[int]:
        executor = weft_package.Executor(home=weft.home, resources={"cpu": 0.5, "memory": "32Mi"})
        future = executor.submit(square, 2)
        assert list(executor.map(square, [1, 2])) == [1, 4]
        assert future.result(WITHIN_S) == 4
        return future

    def n_threads() -> int:
        return sum(thread.name == "weft-client" for thread in threading.enumerate())

    def n_descriptors() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    gc.collect()
    before = n_threads(), n_descriptors()
    kept = [use_one() for _ in range(3)]

    until(lambda: gc.collect() >= 0 and n_threads() <= before[0])
    assert n_descriptors() <= before[1]
    assert [future.result() for future in kept] == [4, 4, 4]


def test_others_read_how_many_calls_run_at_once(make: MakeExecutor) -> None:
    assert make(max_workers=3)._max_workers == 3
    assert make(resources={"cpu": 0.5})._max_workers == 4
    assert make(resources={"cpu": 2})._max_workers == 1


def test_an_initializer_prepares_each_process(make: MakeExecutor) -> None:
    executor = make(initializer=prepare, initargs=("ready",))

    assert executor.submit(prepared).result(WITHIN_S) == ["ready"]
    assert list(executor.map(lambda _: prepared(), range(3), chunksize=1)) == [["ready"]] * 3
    assert make().submit(prepared).result(WITHIN_S) == []
    with pytest.raises(TypeError, match="callable"):
        make(initializer=7)


@pytest.mark.parametrize("does_map", [True, False])
def test_an_initializer_that_raises_breaks_the_executor(
    make: MakeExecutor, *, does_map: bool
) -> None:
    executor = make(initializer=invert, initargs=(0,))
    future = executor.submit(square, 1)
    with pytest.raises(BrokenExecutor, match="division by zero") as broken:
        list(executor.map(square, [2])) if does_map else future.result(WITHIN_S)

    assert isinstance(broken.value.__cause__, RemoteTraceback)
    with pytest.raises(BrokenExecutor, match="not usable"):
        executor.submit(square, 3)
    assert isinstance(future.exception(WITHIN_S), BrokenExecutor)


def test_jobs_have_the_names_of_their_functions(weft: Weft, make: MakeExecutor) -> None:
    executor = make()
    executor.submit(square, 3).result(WITHIN_S)
    executor.submit(partial(pow, 2), 3).result(WITHIN_S)
    list(executor.map(lambda number: number, [1, 2], chunksize=2))

    assert executor.batch_id is not None
    with weft_package.Client(home=weft.home) as client:
        names = [job["name"] for job in client.get_batch(executor.batch_id).list_jobs()]
    assert names == ["square", "pow", "test_jobs_have_the_names_of_their_functions.<lambda>"]
