"""The provider: each block of a `HighThroughputExecutor` is a job of `weft.bridge`."""

import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from parsl.jobs.states import JobState, JobStatus
from parsl.launchers import SingleNodeLauncher
from parsl.launchers.base import Launcher
from parsl.providers.base import ExecutionProvider
from parsl.providers.errors import SubmitException
from parsl.utils import RepresentationMixin

from weft import WeftError
from weft.bridge import Bridge, Submitted

STATES: Final[Mapping[str, JobState]] = {
    "success": JobState.COMPLETED,
    "cancelled": JobState.CANCELLED,
}
LOG_BYTES: Final = 10_000_000
SHOWN_LINES: Final = 10


class WeftProvider(ExecutionProvider, RepresentationMixin):
    """Run blocks of workers as jobs of weft.

    Args:
        queue: The queue in which blocks wait; default: that of weft.
        walltime: How long a block may run, as `HH:MM:SS`; default: as long as it likes.
        cores_per_node: Cores that a block reserves; its workers find as many in `PARSL_CORES`.
        mem_per_node: Memory that it reserves, in GB; default: weft's.
        worker_init: Lines of the shell that go before the workers.
        launcher: Starts the workers.
        init_blocks, min_blocks, max_blocks, parallelism: As with other providers.
        nodes_per_block: 1; weft has no jobs on several nodes.
        url: Address of the server; default: as weft's command line finds it.
    """

    def __init__(
        self,
        queue: str | None = None,
        walltime: str | None = None,
        cores_per_node: int = 1,
        mem_per_node: float | None = None,
        worker_init: str = "",
        launcher: Launcher | None = None,
        init_blocks: int = 1,
        min_blocks: int = 0,
        max_blocks: int = 1,
        parallelism: float = 1,
        nodes_per_block: int = 1,
        url: str | None = None,
    ) -> None:
        self.queue = queue
        self.walltime = walltime
        self.cores_per_node = cores_per_node
        self.mem_per_node = mem_per_node
        self.worker_init = worker_init
        self.launcher = launcher or SingleNodeLauncher()
        self.init_blocks = init_blocks
        self.min_blocks = min_blocks
        self.max_blocks = max_blocks
        self.parallelism = parallelism
        self.nodes_per_block = nodes_per_block
        self.url = url
        self.script_dir: str | None = None
        self.resources: dict[object, Submitted] = {}
        self._ended: dict[object, JobStatus] = {}
        self._lock = threading.Lock()
        self._bridge: Bridge | None = None

    @property
    def label(self) -> str:
        """Return its name."""
        return "weft"

    @property
    def status_polling_interval(self) -> int:
        """Return how often Parsl asks; the answer is here already."""
        return 1

    def submit(self, command: str, tasks_per_node: int, job_name: str = "parsl.auto") -> object:
        """Send a block; return the id of its job."""
        if self.nodes_per_block > 1:
            raise SubmitException(job_name, "a block on weft has one node: set nodes_per_block=1")
        launched = self.launcher(command, tasks_per_node, self.nodes_per_block)
        env = {"PARSL_CORES": str(self.cores_per_node)}
        resources: dict[str, Any] = {"cpu": self.cores_per_node}
        if self.mem_per_node:
            env["PARSL_MEMORY_GB"] = str(self.mem_per_node)
            resources["memory"] = f"{self.mem_per_node}G"
        document = {
            "name": job_name,
            "script": f"#!/bin/bash\n{self.worker_init}\n{launched}\n",
            "cwd": os.getcwd(),  # noqa: PTH109
            "env": env,
            "resources": resources,
        }
        if self.queue:
            document["queue"] = self.queue
        if self.walltime:
            hours, minutes, seconds = map(int, self.walltime.split(":"))
            document["timeout_s"] = (hours * 60 + minutes) * 60 + seconds
        try:
            submitted = self._connected().submit(document)
            ref = submitted.ref.result()
        except (WeftError, CancelledError) as error:
            raise SubmitException(job_name, f"weft: {error}") from error
        self.resources[ref] = submitted
        return ref

    def status(self, job_ids: Sequence[object]) -> Sequence[JobStatus]:
        """Return what is known of blocks: the server is not asked."""
        return [self._status(job_id) for job_id in job_ids]

    def cancel(self, job_ids: Sequence[object]) -> Sequence[bool]:
        """Cancel blocks; those that have ended stay as they are."""
        try:
            self._connected().cancel([str(job_id) for job_id in job_ids])
        except WeftError:
            return [False for _ in job_ids]
        return [True for _ in job_ids]

    def _connected(self) -> Bridge:
        with self._lock:
            if self._bridge is None:
                self._bridge = Bridge(
                    f"parsl-blocks-{os.getpid()}-{os.urandom(4).hex()}", url=self.url
                )
            return self._bridge

    def _status(self, job_id: object) -> JobStatus:
        submitted = self.resources.get(job_id)
        if submitted is None:
            return JobStatus(JobState.UNKNOWN, f"no block {job_id} was submitted here")
        if submitted.end.done():
            if job_id not in self._ended:
                self._ended[job_id] = self._end(str(job_id), submitted)
            return self._ended[job_id]
        return JobStatus(JobState.RUNNING if submitted.claimed.done() else JobState.PENDING)

    def _end(self, ref: str, submitted: Submitted) -> JobStatus:
        if (error := submitted.end.exception()) is not None:
            return JobStatus(JobState.UNKNOWN, f"weft: {error}")
        row = submitted.end.result()
        if row.state in STATES:
            return JobStatus(STATES[row.state], exit_code=row.exit_code)
        state = JobState.TIMEOUT if row.reason == "timeout" else JobState.FAILED
        why, log = None, b""
        with suppress(WeftError):
            why, log = self._connected().why(ref), self._connected().log(ref, LOG_BYTES)
        file = Path(self.script_dir or ".") / f"weft-{ref}.log"
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(log)
        lines = [f"  {line[:300]}" for line in log.decode(errors="replace").splitlines()]
        told = [
            f"weft job {ref} {why or 'failed'}",
            *lines[:SHOWN_LINES],
            f"more: weft logs {ref}",
        ]
        return JobStatus(state, "\n".join(told), row.exit_code, str(file), str(file))
