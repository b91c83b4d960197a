"""The backend of joblib: each of its batches of calls is a call of one `weft.Executor`."""

import operator
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any
from weakref import WeakSet

from joblib import register_parallel_backend
from joblib.parallel import AutoBatchingMixin, ParallelBackendBase, SequentialBackend

from weft.client.functions.executor import Executor
from weft.client.functions.futures import WeftFuture


class WeftBackend(AutoBatchingMixin, ParallelBackendBase):  # type: ignore[misc]
    """`joblib.parallel_config("weft", n_jobs=-1, resources={"cpu": 1})`: what joblib does not know
    itself are keywords of `weft.Executor`.

    Calls of one `parallel_config` with the same `n_jobs` are jobs of one batch. What a call calls
    in parallel is done one after the other in its job.
    """

    supports_retrieve_callback = True
    supports_inner_max_num_threads = True
    MIN_IDEAL_BATCH_DURATION = 1.0
    """So long that joblib does not take the way to a worker and back for the calls."""
    MAX_IDEAL_BATCH_DURATION = 10.0

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 (joblib's and those of Executor)
        super().__init__(**options)
        self._executors: dict[int | None, Executor] = {}
        self._futures: WeakSet[WeftFuture[Any]] = WeakSet()

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """Return how many jobs may run at once: -1 means all that fit the workers."""
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if n_jobs is None or n_jobs > 0:
            return n_jobs or 1
        slots: int = self._executor(None)._max_workers  # noqa: SLF001 (as joblib's names have it)
        return max(slots + 1 + n_jobs, 1)

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:  # noqa: ANN401 (joblib's)
        """Take what a `Parallel` wants; return how many jobs may run at once."""
        self.parallel = parallel
        self._n_jobs = self.effective_n_jobs(n_jobs)
        return self._n_jobs

    def submit(
        self, func: Callable[[], Any], callback: Callable[[Future[Any]], Any] | None = None
    ) -> Future[Any]:
        """Send a batch of calls. They are its arguments: a function has to be small."""
        future = self._executor(self._n_jobs).submit(operator.call, func)
        self._futures.add(future)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Future[Any]) -> Any:  # noqa: ANN401 (what the calls return)
        """Return what a batch of calls returned. Raise what one of them raised."""
        return out.result()

    def abort_everything(self, ensure_ready: bool = True) -> None:  # noqa: FBT001, FBT002 (joblib's)
        """Cancel all calls, those that run included."""
        for future in list(self._futures):
            future.cancel(running=True)
        if not ensure_ready:
            self.terminate()

    def terminate(self) -> None:
        """Forget the durations of the calls. Executors stay for the next `Parallel`."""
        self.reset_batch_stats()

    def get_nested_backend(self) -> tuple[SequentialBackend, None]:
        """Return what a call has for calls in parallel of its own."""
        return SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), None

    def _executor(self, n_jobs: int | None) -> Executor:
        if n_jobs not in self._executors:
            options = {"name": "joblib", **self.backend_kwargs}
            cpu = float((options.get("resources") or {}).get("cpu", 1))
            threads = str(self.inner_max_num_threads or max(1, int(cpu)))
            limits = dict.fromkeys(self.MAX_NUM_THREADS_VARS, threads)
            options["env"] = {**limits, **(options.get("env") or {})}
            self._executors[n_jobs] = Executor(n_jobs, **options)
        return self._executors[n_jobs]


def register(*, make_default: bool = False) -> None:
    """Make `weft` a backend of joblib; `make_default`: also of programs that name none."""
    register_parallel_backend("weft", WeftBackend, make_default=make_default)
