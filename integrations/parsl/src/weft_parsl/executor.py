"""The executor: each app is a job of `weft.Executor`. It asks no job how it is."""

import json
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import chdir, nullcontext, suppress
from functools import wraps
from typing import Any, Final

from parsl.app.errors import RemoteExceptionWrapper
from parsl.data_provider.staging import Staging
from parsl.executors.base import ParslExecutor
from parsl.executors.errors import InvalidResourceSpecification
from parsl.utils import RepresentationMixin

import weft
from weft.client.functions.futures import WeftFuture

SHOWN_LINES: Final = 10
TRACEBACK: Final = "Traceback (most recent call last)"
"""What follows is the exception itself."""
AMOUNTS: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "cores": ("cpu", float),
    "memory": ("memory", "{}M".format),
    "disk": ("storage", "{}M".format),
    "gpus": ("gpu", int),
}
"""What a specification may say, and what that is on weft."""
MINUTES: Final = "running_time_min"


class WeftExecutor(ParslExecutor, RepresentationMixin):
    """Run apps as jobs of weft.

    Args:
        label: Its name among the executors of a program.
        url: Address of the server; default: as weft's command line finds it.
        max_workers: Apps that run at once; default: as many as fit the workers.
        storage_access: How files are staged; default: Parsl's.
        working_dir: Where staging puts files.
    """

    def __init__(
        self,
        label: str = "weft",
        url: str | None = None,
        max_workers: int | None = None,
        storage_access: list[Staging] | None = None,
        working_dir: str | None = None,
    ) -> None:
        ParslExecutor.__init__(self)
        self.label = label
        self.url = url
        self.max_workers = max_workers
        self.storage_access = storage_access
        self.working_dir = working_dir
        self._lock = threading.Lock()
        self._is_shut = False
        self._executors: dict[str, weft.Executor] = {}
        self._live: set[WeftFuture[Any]] = set()
        self._client: weft.Client | None = None

    def start(self) -> None:
        """Look whether the server is there, and lets this user in: raise a `WeftError` if not."""
        self._client = weft.Client(self.url)
        self._client.whoami()
        self._readers = ThreadPoolExecutor(1, f"{self.label}-logs")

    def submit(
        self,
        func: Callable[..., Any],
        resource_specification: dict[str, Any] | None,
        *args: Any,  # noqa: ANN401 (of any app)
        **kwargs: Any,  # noqa: ANN401
    ) -> "Future[Any]":
        """Send a call; the future that Parsl waits for has what it returned or raised."""
        executor = self._executor_for(resource_specification or {})
        future: Future[Any] = Future()
        with self._lock:  # `shutdown` cancels what is here
            called = executor.submit(_raising(func), *args, **kwargs)
            self._live.add(called)
        called.add_done_callback(lambda _: self._end(executor, called, future))
        return future

    def shutdown(self) -> None:
        """Cancel what still runs."""
        with self._lock:
            self._is_shut = True  # Parsl may repeat what is cancelled
            live, executors = list(self._live), list(self._executors.values())
        for called in live:
            called.cancel(running=True)
        for executor in executors:
            executor.shutdown()
        if self._client is not None:
            self._readers.shutdown()
            self._client.close()
        super().shutdown()

    def monitor_resources(self) -> bool:
        """Calls share processes."""
        return False

    def _executor_for(self, specification: Mapping[str, Any]) -> weft.Executor:
        """Return what runs calls of one specification: they are jobs of one batch."""
        unknown = set(specification) - {*AMOUNTS, MINUTES}
        if unknown:
            known = ", ".join([*AMOUNTS, MINUTES])
            raise InvalidResourceSpecification(unknown, f"weft takes {known}.")
        key = json.dumps(specification, sort_keys=True)
        with self._lock:
            if self._is_shut:
                raise CancelledError(f"the executor {self.label} has been shut down")
            if key not in self._executors:
                minutes = specification.get(MINUTES)
                self._executors[key] = weft.Executor(
                    self.max_workers,
                    name=f"parsl-{self.run_id}",
                    url=self.url,
                    resources={
                        name: read(specification[word])
                        for word, (name, read) in AMOUNTS.items()
                        if word in specification
                    },
                    timeout_s=minutes and minutes * 60,
                )
            return self._executors[key]

    def _end(
        self, executor: weft.Executor, called: "WeftFuture[Any]", future: "Future[Any]"
    ) -> None:
        with self._lock:
            self._live.discard(called)
        try:
            error = called.exception()
        except CancelledError as cancelled:
            future.set_exception(cancelled)
            return
        if error is None:
            future.set_result(called.result())
        elif called.job_id is None or executor.batch_id is None:
            future.set_exception(error)  # it was never sent
        else:
            ref = f"b{executor.batch_id}.j{called.job_id}"
            self._readers.submit(self._fail, future, error, ref)

    def _fail(self, future: "Future[Any]", error: BaseException, ref: str) -> None:
        """Tell what a call raised, with its job and how its errors begin."""
        shown: list[str] = []
        with suppress(weft.WeftError, OSError):
            batch, _, job = ref.partition(".")
            log = self._client.get_batch(int(batch[1:])).get_job(int(job[1:])).log(stream="stderr")
            lines = log.partition(TRACEBACK)[0].splitlines()
            shown = [f"  {line[:300]}" for line in lines if line.strip()][:SHOWN_LINES]
        error.add_note("\n".join([f"weft job {ref}", *shown, f"more: weft logs {ref}"]))
        future.set_exception(error)


def _raising(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs in this directory, if its host has that, and raises what
    Parsl's wrapper returns: else its job would succeed.
    """
    cwd = os.getcwd()  # noqa: PTH109 (a path of another host, perhaps)

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (of any app)
        with chdir(cwd) if os.path.isdir(cwd) else nullcontext():  # noqa: PTH112
            returned = func(*args, **kwargs)
        if isinstance(returned, RemoteExceptionWrapper):
            returned.reraise()
        return returned

    return call
