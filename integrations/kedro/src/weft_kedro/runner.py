"""The runner. Each node is one job of weft, all of a run are one batch.

A job gets the datasets of its node. What the node saves to a dataset in memory comes back with the
end of the job, and goes on with the jobs that load it.
"""

import copy
import logging
import os
import pickle
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from typing import Any

import cloudpickle
from kedro.framework import project
from kedro.framework.project import configure_project
from kedro.io import CatalogProtocol
from kedro.pipeline import Pipeline
from kedro.pipeline.node import Node
from kedro.runner.runner import AbstractRunner
from kedro.runner.task import Task

import weft

log = logging.getLogger("kedro.runner.weft")
"""Below `kedro`, of which the configuration of a project shows what is said."""


class WeftRunner(AbstractRunner):
    """What `kedro run --runner=weft_kedro.WeftRunner` makes, with `--runner-params`.

    Args:
        is_async: Whether each node loads and saves its datasets with threads.
        **options: Arguments of `weft.Executor`, such as `max_workers` and `resources`.
    """

    def __init__(
        self,
        is_async: bool = False,  # noqa: FBT001, FBT002 (Kedro's)
        **options: Any,  # noqa: ANN401 (of `weft.Executor`)
    ) -> None:
        super().__init__(is_async)
        self._options = {"name": f"kedro {project.PACKAGE_NAME or Path.cwd().name}", **options}

    @property
    def _logger(self) -> logging.Logger:
        return log

    def _get_executor(self, max_workers: int) -> "_Nodes":  # noqa: ARG002
        executor = _Nodes(**self._options)
        log.info("Running on weft at %s", executor.url)
        return executor

    def _run(
        self,
        pipeline: Pipeline,
        catalog: CatalogProtocol,
        hook_manager: object = None,  # noqa: ARG002 (it cannot be pickled)
        run_id: str | None = None,
    ) -> None:
        """Run it. Hooks of nodes and datasets are called on the workers, which make their own."""
        super()._run(pipeline, catalog, run_id=run_id)

    def _validate_catalog(self, catalog: CatalogProtocol) -> None:
        for name in catalog.keys():  # noqa: SIM118 (a catalog is no mapping)
            if type(catalog[name]).__name__ == "SharedMemoryDataset":
                raise ValueError(
                    f"workers do not have the shared memory of dataset {name!r}: "
                    "make it a MemoryDataset or a file"
                )


class _Nodes(weft.Executor):
    """Takes the tasks of nodes."""

    def submit(self, task: Task) -> "Future[Node]":
        """Send a node with its datasets; the future ends when their catalog has what it saved."""
        end: Future[Node] = Future()
        sent = super().submit(_run_node, _pickled(task), project.PACKAGE_NAME, str(Path.cwd()))
        sent.add_done_callback(partial(self._tell, task, end))
        return end

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            self.shutdown(wait=False, cancel_futures=True)
        super().__exit__(kind, *rest)

    def _tell(self, task: Task, end: "Future[Node]", sent: "Future[Mapping[str, Any]]") -> None:
        try:
            for name, value in sent.result().items():
                task.catalog[name].save(value)
        except (Exception, CancelledError) as error:  # noqa: BLE001 (whatever the node raised)
            ref = f"b{self.batch_id}.j{sent.job_id}"
            words = f"weft job {ref} of node {task.node.name!r} failed: {type(error).__name__}"
            log.error("%s: %s\nmore: weft logs %s", words, error, ref)
            failed = isinstance(error, CancelledError)
            end.set_exception(RuntimeError(f"{words}: {error}") if failed else error)
        else:
            end.set_result(task.node)


def _pickled(task: Task) -> bytes:
    """Return a task with only the datasets of its node."""
    for dataset in (task.catalog[name] for name in task.node.inputs):
        if getattr(dataset, "_EPHEMERAL", False) and not dataset.exists():
            dataset.load()  # raises: the mark for "nothing was saved" does not outlive pickling
    catalog, task = copy.copy(task.catalog), copy.copy(task)
    names = {*task.node.inputs, *task.node.outputs, *task.node.confirms}
    catalog._datasets = {name: task.catalog[name] for name in names}
    catalog._lazy_datasets = {}
    task.catalog, task.parallel = catalog, True
    try:
        return cloudpickle.dumps(task)
    except Exception as error:
        raise ValueError(
            f"node {task.node.name!r} cannot be sent to a worker, nor its datasets "
            f"{sorted(names)}: {error}"
        ) from error


def _run_node(pickled: bytes, package: str | None, folder: str) -> Mapping[str, Any]:
    """Run a node, on its worker. Return what it saved to datasets in memory."""
    os.chdir(folder)
    if package:
        configure_project(package)
    task: Task = pickle.loads(pickled)  # noqa: S301 (our own)
    node, catalog = task.execute(), task.catalog
    return {
        name: catalog.load(name)
        for name in node.outputs
        if getattr(catalog[name], "_EPHEMERAL", False)
    }
