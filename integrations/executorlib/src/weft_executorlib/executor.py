"""The executor: executorlib resolves futures among arguments, weft runs the calls."""

import os
import sys
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, Final

from executorlib.executor.base import BaseExecutor
from executorlib.standalone.error import backend_write_error_file
from executorlib.standalone.interactive.backend import call_funct
from executorlib.standalone.serialize import serialize_funct
from executorlib.task_scheduler.base import TaskSchedulerBase
from executorlib.task_scheduler.interactive.dependency import DependencyTaskScheduler

import weft

Document = dict[str, Any]
TAKEN: Final = (
    *("threads_per_core", "gpus_per_core", "memory", "run_time_max", "max_attempts"),
    *("cwd", "cache_key", "cache_directory", "error_log_file"),
)


class JobCancelled(Exception):
    """A call was cancelled on weft. executorlib's resolver would die of a `CancelledError`."""


class WeftExecutor(BaseExecutor):
    """What `SingleNodeExecutor` is, on the workers of a weft server.

    Args:
        max_workers: Calls that run at once, of each kind of resources; default: as many as fit.
        cache_directory: Where results are kept: a program that is started again takes them there.
        resource_dict: What each call reserves, if it does not say so itself.
        disable_dependencies: Whether futures among arguments stay what they are.
        options: `name`, `url`, `initializer`, `initargs`, `patience_s` of `weft.Executor`; and of
            executorlib `refresh_rate`, `plot_dependency_graph`, `plot_dependency_graph_filename`
            and `export_workflow_filename`.
    """

    def __init__(
        self,
        max_workers: int | None = None,
        cache_directory: str | None = None,
        resource_dict: Mapping[str, Any] | None = None,
        *,
        disable_dependencies: bool = False,
        **options: Any,  # noqa: ANN401 (of others)
    ) -> None:
        graph = {
            name: options.pop(name)
            for name in list(options)
            if "graph" in name or name in {"refresh_rate", "export_workflow_filename"}
        }
        _check({**(resource_dict or {})})
        standing = {
            "cache_directory": cache_directory,
            "cwd": str(Path.cwd()),
            **(resource_dict or {}),
        }
        self._weft = _Scheduler(standing, {"max_workers": max_workers, **options})
        super().__init__(
            self._weft
            if disable_dependencies
            else DependencyTaskScheduler(self._weft, validator=_check, **graph)
        )

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self._weft.cancel_all()
        super().__exit__(kind, *rest)


class _Scheduler(TaskSchedulerBase):
    """Takes calls from the queue of executorlib. Those that reserve the same are one batch."""

    def __init__(self, standing: Document, options: Document) -> None:
        super().__init__(validator=_check)
        options.setdefault("name", f"executorlib {Path(sys.argv[0]).stem or 'python'}")
        weft.Executor(**options).shutdown()  # says at once if there is no server
        self._standing, self._options = standing, options
        self._process_kwargs = {**standing, "max_workers": options["max_workers"]}
        self._executors: dict[str, weft.Executor] = {}
        self._live: set[Any] = set()
        self._set_process(Thread(target=self._serve, args=(self._future_queue,)))

    def cancel_all(self) -> None:
        """Cancel what was sent, also what runs."""
        for sent in list(self._live):
            sent.cancel(running=True)

    def _serve(self, tasks: Any) -> None:  # noqa: ANN401 (a queue of what executorlib says)
        while not (task := tasks.get()).get("shutdown"):
            try:
                if task["future"].set_running_or_notify_cancel():
                    self._send(task, task["future"])
            except Exception as error:  # noqa: BLE001 (whatever pickling raises is for the caller)
                task["future"].set_exception(error)
            tasks.task_done()
        for executor in self._executors.values():
            executor.shutdown(task["wait"], cancel_futures=task["cancel_futures"])
        tasks.task_done()

    def _send(self, task: Document, future: "Future[Any]") -> None:
        said = self._standing | {k: v for k, v in task["resource_dict"].items() if v}
        call = {name: task[name] for name in ("fn", "args", "kwargs")}
        file, document = _kept(said, call) if said.get("cache_directory") else (None, {})
        if file and file.exists():
            from executorlib.standalone.hdf import get_output  # noqa: PLC0415 (it needs h5py)

            future.set_result(get_output(file_name=str(file))[2])
            return
        executor = self._executor(_arguments(said))
        sent = executor.submit(_run, call, said)
        self._live.add(sent)
        sent.add_done_callback(self._live.discard)
        sent.add_done_callback(partial(_tell, executor, future, file, document))

    def _executor(self, reserved: Document) -> weft.Executor:
        key = repr(reserved)
        if key not in self._executors:
            self._executors[key] = weft.Executor(**self._options, **reserved)
        return self._executors[key]


def _check(resource_dict: Mapping[str, Any]) -> None:
    """Refuse what no job of weft can have."""
    for name, value in resource_dict.items():
        if name == "cores" and value not in {None, 1}:
            raise ValueError(
                f"a call on weft is one process, not one of cores={value}: say "
                "threads_per_core for its CPUs"
            )
        if name not in TAKEN and value and value != 1:
            raise ValueError(f"weft's executor has no {name!r}; a resource_dict says {TAKEN}")


def _arguments(said: Document) -> Document:
    """Return arguments of `weft.Executor`."""
    threads = said.get("threads_per_core") or 1
    reserved = {"cpu": threads, "gpu": said.get("gpus_per_core"), "memory": said.get("memory")}
    return {
        "resources": {name: amount for name, amount in reserved.items() if amount},
        "timeout_s": said.get("run_time_max"),
        "max_attempts": said.get("max_attempts"),
        "env": {"OMP_NUM_THREADS": str(threads)},
    }


def _kept(said: Document, call: Document) -> tuple[Path, Document]:
    """Return where executorlib's cache has the result of a call, and what else it has of it."""
    key, document, error = serialize_funct(
        fn=call["fn"],
        fn_args=call["args"],
        fn_kwargs=call["kwargs"],
        resource_dict={},
        cache_key=said.get("cache_key"),
    )
    if error is not None:
        raise error
    return Path(said["cache_directory"]).absolute() / f"{key}_o.h5", document


def _tell(
    executor: weft.Executor,
    future: "Future[Any]",
    file: Path | None,
    document: Document,
    sent: Any,  # noqa: ANN401 (a future of weft)
) -> None:
    ref = f"b{executor.batch_id}.j{sent.job_id}"
    try:
        value = sent.result()
        if file:
            from executorlib.standalone.hdf import dump  # noqa: PLC0415 (it needs h5py)

            file.parent.mkdir(parents=True, exist_ok=True)
            dump(file_name=str(file), data_dict=document | {"output": value})
    except CancelledError:
        future.set_exception(JobCancelled(f"weft job {ref} was cancelled"))
    except BaseException as error:  # noqa: BLE001 (what the function raised, whatever it is)
        error.add_note(f"weft job {ref} failed; more: weft logs {ref}")
        future.set_exception(error)
    else:
        future.set_result(value)


def _run(call: Document, said: Document) -> object:
    """Call a function, on its worker."""
    os.chdir(said["cwd"])
    try:
        return call_funct(call)
    except Exception as error:
        backend_write_error_file(error, call | {"error_log_file": said.get("error_log_file")})
        raise
