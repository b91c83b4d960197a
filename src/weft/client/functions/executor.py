"""`weft.Executor`: functions on the workers of a weft server, as `concurrent.futures` has them."""

import atexit
import concurrent.futures
import secrets
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final, ParamSpec, TypeVar, Unpack

from weft.client.api import Api, ResultRow
from weft.client.functions.calls import Call, Calls, JobPlan
from weft.client.functions.futures import Link, WeftFuture
from weft.client.functions.map import MapRun, Values
from weft.client.functions.pickles import (
    Function,
    own_directory,
    own_interpreter,
    own_path,
    pickle_arguments,
    pickle_function,
    value_of,
    values_of,
)
from weft.client.loop_thread import ClientClosed, LoopThread
from weft.client.objects.job_keywords import RETRY_NAMES, RetryKeywords
from weft.client.submission.ahead import caller_environment, requirements_of
from weft.core.errors import WeftError
from weft.core.ids import format_batch_id
from weft.wire.function import Initialized, InitializerFailed

P = ParamSpec("P")
Result = TypeVar("Result")
PATIENCE_S: Final = 300.0
_AT_WORK: set["Executor"] = set()
"""Executors with unfinished calls: they stay alive even if the program drops them."""
_EXIT = threading.Lock()
"""Held to add to them, and while the program's end is noted."""


class Executor(concurrent.futures.Executor):
    """Run Python functions on the workers of a weft server.

        with weft.Executor() as executor:
            future = executor.submit(pow, 2, 100)
            print(future.result())
            print(sum(executor.map(len, open("words.txt"))))

    Functions and arguments are pickled by cloudpickle, so lambdas and functions of a notebook may
    be called; modules are imported, so the workers need them and the same Python. Each call (of
    `map`: each chunk of calls) is a job of one batch: it survives whatever dies between here and
    the worker, and `weft status`, `logs` and `top` show it.

    Args:
        max_workers: Jobs that run at once; default: as many as fit the workers.
        initializer: Called in each process before its first call. If it raises, all calls fail
            with `concurrent.futures.BrokenExecutor`.
        initargs: Its arguments.
        name: Name of the batch.
        resources: What each job reserves: `{"cpu": 1, "memory": "512Mi"}`.
        timeout_s: How long a call may take.
        env: Variables of the environment in which functions run.
        inherit_env: Whether calls have the environment of this program, without weft's secrets,
            and its directory where their host has it. Default: if the server is on this host and
            the setting `clean_env` does not keep it here.
        requirements: A requirements file or a `uv.lock`, whose packages functions find first.
        retries: `max_attempts`, `retry_on`, `retry`, `external_errors`, `retry_with`: after which
            ends a call is made again, when, and with what; as `create_job` takes them. Default:
            a call that raises is not made again. Calls that `map` combines are all made again.
        url: Address of the server; default: `WEFT_URL`, or what `weft up` wrote in the home.
        token: The caller's token; default: `WEFT_TOKEN`, or likewise.
        home: The home to look into, instead of `WEFT_HOME`.
        patience_s: How long the server may be away before all futures fail.
    """

    def __init__(
        self,
        max_workers: int | None = None,
        *,
        initializer: Callable[..., object] | None = None,
        initargs: Sequence[Any] = (),
        name: str | None = None,
        resources: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
        env: Mapping[str, str] | None = None,
        inherit_env: bool | None = None,
        requirements: str | PurePath | None = None,
        url: str | None = None,
        token: str | None = None,
        home: Path | None = None,
        patience_s: float = PATIENCE_S,
        **retries: Unpack[RetryKeywords],
    ) -> None:
        if max_workers is not None and max_workers < 1:
            raise ValueError("max_workers must be greater than 0")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        if not retries.keys() <= RETRY_NAMES:
            unexpected = min(retries.keys() - RETRY_NAMES)
            raise TypeError(f"Executor() got an unexpected keyword argument {unexpected!r}")
        api = Api(url, token, home=home, patience_s=patience_s, wait_patience_s=patience_s)
        self.url = api.url
        """Where the server is. Asked now, so that it is said at once if there is none."""
        inherits = api.is_of_this_host if inherit_env is None else inherit_env
        environment = caller_environment(home=home) if inherits else None
        plan = JobPlan(
            name=name,
            max_running=max_workers,
            resources=resources,
            timeout_s=timeout_s,
            env=env,
            path=own_path(),
            interpreter=own_interpreter(),
            directory=own_directory() if environment else None,
            inherit_env=environment and environment.variables,
            retries={name: value for name, value in retries.items() if value is not None},
            requirements=None if requirements is None else requirements_of(Path(requirements)),
        )
        self._calls = Calls(api, plan, on_idle=_weakly(self._on_idle))
        self._loop_thread = LoopThread()
        self._link = Link(
            post=_weakly(self._loop_thread.post),
            drop=_weakly(self._drop),
            is_here=partial(_is_thread, self._loop_thread.thread),
        )
        self._prepared = initializer and partial(
            Initialized, key=secrets.token_hex(8), initializer=initializer, initargs=initargs
        )
        self._slots = max_workers
        self._lock = threading.Lock()
        self._accepted: list[Call] = []
        self._is_shut = False
        self._is_explained = False
        """Whether a person was told what the next Ctrl-C does."""
        self._is_cancelled = False
        self._broken: InitializerFailed | None = None
        """By the name that `concurrent.futures` has for it."""
        _register_exit()

    def __repr__(self) -> str:
        batch = "no calls yet" if self.batch_id is None else format_batch_id(self.batch_id)
        return f"<weft.Executor of {self.url}: {batch}>"

    @property
    def batch_id(self) -> int | None:
        """Return the number of its batch; None: nothing was sent yet."""
        return self._calls.batch_id

    @property
    def _max_workers(self) -> int:
        """Return how many calls run side by side. Other libraries read it, as dask does."""
        if self._slots is None:
            self._slots = self._loop_thread.wait(self._calls.slots())
        return self._slots

    def submit(
        self, fn: Callable[P, Result], /, *args: P.args, **kwargs: P.kwargs
    ) -> WeftFuture[Result]:
        """Schedule a call; return its future at once."""
        function, arguments = self._pickled(fn), pickle_arguments(args, kwargs)
        future: WeftFuture[Result] = WeftFuture(partial(_value_of, weakref.ref(self)), self._link)
        call = future.call_for(function, arguments)
        with self._lock:
            self._begin()
            self._accepted.append(call)
            is_first = len(self._accepted) == 1
        if is_first:
            self._loop_thread.post(self._hand_over)
        return future

    def map(
        self,
        fn: Callable[..., Result],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int | None = None,
    ) -> Iterator[Result]:
        """Yield `fn(*arguments)` for all arguments, in order, as `zip` combines them.

        Args:
            fn: The function.
            *iterables: Its arguments; all are taken at once.
            timeout: Seconds from now after which the iterator raises `TimeoutError`.
            chunksize: Calls per job; default: chosen by the duration of calls.
        """
        if chunksize is not None and chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        run = MapRun(
            self._calls,
            self._pickled(fn),
            list(zip(*iterables, strict=False)),
            chunksize=chunksize,
            read=partial(_values_of, weakref.ref(self)),
            link=self._link,
        )
        with self._lock:
            self._begin()
            self._loop_thread.post(self._calls.enter, run)
            self._loop_thread.start(run.start())
        return run.values(timeout)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 (as concurrent.futures has it)
        """Accept no more calls; wait for the present ones.

        Args:
            wait: Return when all have ended; else, and in a callback of a future, they go on
                without anybody waiting.
            cancel_futures: Cancel those that no worker has taken yet.
        """
        with self._lock:
            self._is_shut = True
        if not self._loop_thread.is_alive:
            return
        if cancel_futures:
            self._loop_thread.post(self._calls.cancel_unclaimed)
        if wait and not self._loop_thread.is_here:
            self._wait_for_all()
            self._loop_thread.close()
        else:
            self._loop_thread.start(self._finish_and_close())

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._cancelling():
            if kind is not None and issubclass(kind, KeyboardInterrupt):
                self._explain_interrupt()
            self.shutdown()

    @contextmanager
    def _cancelling(self) -> Iterator[None]:
        """Cancel all calls at a Ctrl-C after the one that was explained."""
        try:
            yield
        except KeyboardInterrupt:
            if self._is_explained:
                self._cancel_all()
            raise

    def _wait_for_all(self) -> None:
        """Wait for all calls. The first Ctrl-C says so, the second one cancels them."""
        is_interrupted = False
        while True:
            try:
                # `shutdown(wait=False)` has just finished.
                with suppress(CancelledError, ClientClosed):
                    self._loop_thread.wait(self._finish())
            except KeyboardInterrupt:
                is_interrupted = True
                if self._is_explained:
                    self._cancel_all()
                    raise
                self._explain_interrupt()
            else:
                break
        if is_interrupted:
            raise KeyboardInterrupt

    def _end_interrupted(self) -> None:
        """At the end of a program that Ctrl-C ended: cancel, if that was the second one.

        It may come between the words about the first and the wait.
        """
        if self._is_explained:
            self._cancel_all()
        else:
            self._explain_interrupt()

    def _explain_interrupt(self) -> None:
        """Say what another Ctrl-C does, if there is anything to wait for."""
        count = self._calls.n_live + len(self._accepted)
        if count and not self._is_explained:
            self._is_explained = True
            jobs, them = ("job", "it") if count == 1 else ("jobs", "them")
            _say(f"waiting for {count:,} {jobs} of {self._title}; Ctrl-C again cancels {them}")

    def _cancel_all(self) -> None:
        if self._is_cancelled:
            return
        self._is_cancelled = True
        _say(f"cancelling {self._title}")
        self._loop_thread.post(self._calls.cancel_unclaimed)  # also what was not sent yet
        with suppress(WeftError, CancelledError):
            self._loop_thread.wait(self._calls.cancel_all())

    @property
    def _title(self) -> str:
        return "this executor" if self.batch_id is None else format_batch_id(self.batch_id)

    def _hand_over(self) -> None:
        with self._lock:
            calls, self._accepted = self._accepted, []
        self._calls.accept(calls)

    def _drop(self, call: Call) -> None:
        self._loop_thread.post(self._calls.drop, call)

    def _pickled(self, function: Callable[..., Any]) -> Function:
        return pickle_function(function, within=self._prepared)

    def _begin(self) -> None:
        """Note that there is work now, or refuse it."""
        if self._broken is not None:
            raise BrokenExecutor(
                f"{self._broken}: the executor is not usable anymore"
            ) from self._broken.__cause__
        if self._is_shut:
            raise RuntimeError("cannot schedule new futures after shutdown")
        with _EXIT:
            if _has_ended:
                raise RuntimeError("cannot schedule new futures after interpreter shutdown")
            _AT_WORK.add(self)

    def _break(self, error: InitializerFailed) -> None:
        """Accept no calls any more, and fail those there are. Runs in the event loop."""
        if self._broken is None:
            self._broken = error
            self._loop_thread.start(self._calls.break_off(error))

    def _on_idle(self) -> None:
        with self._lock:
            if not self._accepted:
                _AT_WORK.discard(self)

    async def _finish(self) -> None:
        await self._calls.until_idle()
        await self._calls.close()

    async def _finish_and_close(self) -> None:
        await self._finish()
        self._loop_thread.close()


def _say(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"weft: {text}\n")
        sys.stderr.flush()


def _weakly(method: Callable[..., None]) -> Callable[..., None]:
    """Return a function that calls a method as long as its object is there."""
    found = weakref.WeakMethod(method)

    def call(*args: object) -> None:
        if (present := found()) is not None:
            present(*args)

    return call


def _is_thread(thread: threading.Thread) -> bool:
    return thread is threading.current_thread()


def _value_of(executor: "weakref.ref[Executor]", row: ResultRow) -> Any:  # noqa: ANN401 (what the function returned)
    try:
        return value_of(row)
    except InitializerFailed as error:
        _note_failure(executor, error)
        raise


def _values_of(executor: "weakref.ref[Executor]", row: ResultRow) -> Values:
    values, error = values_of(row)
    if isinstance(error, InitializerFailed):
        _note_failure(executor, error)
    return values, error


def _note_failure(executor: "weakref.ref[Executor]", error: InitializerFailed) -> None:
    if (found := executor()) is not None:
        found._break(error)  # noqa: SLF001 (of the same module)


def _register_exit() -> None:
    """Wait for calls at exit, as other executors do.

    Registered behind that of the event loops' threads, so it is called before they are ended.
    """
    global _is_registered  # noqa: PLW0603 (once for the process)
    if not _is_registered:
        _is_registered = True
        atexit.register(_finish_all)


def _finish_all() -> None:
    global _has_ended  # noqa: PLW0603 (once for the process)
    with _EXIT:
        _has_ended = True
    for executor in list(_AT_WORK):
        with executor._cancelling():  # noqa: SLF001 (of the same module)
            if getattr(sys, "last_type", None) is KeyboardInterrupt:
                executor._end_interrupted()  # noqa: SLF001
            executor.shutdown()


_is_registered = False
_has_ended = False
"""Nobody would wait for further calls."""
