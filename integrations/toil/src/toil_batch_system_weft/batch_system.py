"""The batch system: the jobs of a workflow in one batch of `weft.bridge`. No job is asked."""

import logging
import time
from argparse import ArgumentParser, _ArgumentGroup
from collections.abc import Sequence
from concurrent.futures import wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from queue import Empty
from typing import Any, Final

from toil.batchSystems.abstractBatchSystem import InsufficientSystemResources, UpdatedBatchJobInfo
from toil.batchSystems.cleanup_support import BatchSystemCleanupSupport
from toil.batchSystems.options import OptionSetter
from toil.common import Config
from toil.job import JobDescription, Requirer

from toil_batch_system_weft.documents import document_of, end_of, message
from toil_batch_system_weft.worker import ShowFailure
from weft import Client, WeftError
from weft.bridge import Bridge, Submitted

LOG_BYTES: Final = 10_000_000
GONE_S: Final = 60
"""How long to wait for what was cancelled."""
logger: Final = logging.getLogger("toil.batchSystems.weft")  # Toil shows what its own modules log


@dataclass
class _Job:
    submitted: Submitted
    began_at: float = field(default_factory=time.monotonic)
    """When it was claimed; before that, when it was issued."""
    ended_at: float = 0

    def begin(self, _: object) -> None:
        self.began_at = time.monotonic()

    @property
    def is_running(self) -> bool:
        return self.submitted.claimed.done() and not self.submitted.end.done()


class WeftBatchSystem(BatchSystemCleanupSupport):
    """What Toil calls, in one thread."""

    def __init__(self, config: Config, maxCores: float, maxMemory: float, maxDisk: int) -> None:
        super().__init__(config, maxCores, maxMemory, maxDisk)
        name = f"toil-{config.workflowID}"
        _cancel_earlier(name, config.weft_url)
        self._bridge = Bridge(name, url=config.weft_url)
        self._jobs: dict[int, _Job] = {}
        self._ends = self.localBatch.outputQueue
        """One queue for local and other ends, so that one can wait for both."""

    @classmethod
    def supportsAutoDeployment(cls) -> bool:
        """Return False: workers have the modules of a workflow, as they have Toil."""
        return False

    def issueBatchJob(
        self, command: str, job_desc: JobDescription, job_environment: dict[str, str] | None = None
    ) -> int:
        """Send a job; return its number in Toil."""
        local = self.handleLocalJob(command, job_desc)
        if local is not None:
            return local
        self.check_resource_request(job_desc)
        env = {**self.environment, **(job_environment or {})}
        document = document_of(command, job_desc, env, self.config.weft_queue)
        number = self.getNextJobID()
        job = self._jobs[number] = _Job(self._bridge.submit(document))
        job.submitted.claimed.add_done_callback(job.begin)
        job.submitted.end.add_done_callback(lambda _: self._on_end(number, job))
        return number

    def killBatchJobs(self, jobIDs: Sequence[int]) -> None:
        """Cancel jobs, and wait until they are gone."""
        self.killLocalJobs(list(jobIDs))
        killed = [self._jobs.pop(number).submitted for number in jobIDs if number in self._jobs]
        sent = [each for each in killed if each.ref.exception() is None]
        self._bridge.cancel([each.ref.result() for each in sent])
        wait([each.end for each in sent], GONE_S)

    def getIssuedBatchJobIDs(self) -> list[int]:
        """Return the jobs whose ends Toil has not got."""
        return [*self._jobs, *self.getIssuedLocalJobIDs()]

    def getRunningBatchJobIDs(self) -> dict[int, float]:
        """Return for how many seconds each job has run."""
        now, jobs = time.monotonic(), self._jobs.items()
        own = {number: now - job.began_at for number, job in jobs if job.is_running}
        return {**own, **self.getRunningLocalJobIDs()}

    def getUpdatedBatchJob(self, maxWait: int) -> UpdatedBatchJobInfo | None:
        """Wait for the next end."""
        until = time.monotonic() + maxWait
        while True:
            try:
                end = self._ends.get(timeout=max(0, until - time.monotonic()))
            except Empty:
                return None
            if isinstance(end, UpdatedBatchJobInfo):
                self.localBatch.jobs.pop(end.jobID)
                return end
            if (job := self._jobs.pop(end, None)) is not None:  # else it was killed
                return self._told(end, job)

    def getSchedulingStatusMessage(self) -> str | None:
        """Return why nothing happens."""
        try:
            return self._bridge.why()
        except WeftError as error:
            return str(error)

    def getWorkerContexts(self) -> list[AbstractContextManager[Any]]:
        """Return what is done around the work of a worker."""
        return [ShowFailure(), *super().getWorkerContexts()]

    def shutdown(self) -> None:
        """Cancel what is left."""
        try:
            if self._jobs:
                self._bridge.cancel_all()
        finally:
            self._bridge.close()
            self.shutdownLocal()

    @classmethod
    def add_options(cls, parser: ArgumentParser | _ArgumentGroup) -> None:
        """Add ours to those of Toil."""
        for word in ("Queue", "Url"):
            variable, text = f"TOIL_WEFT_{word.upper()}", f"{word} of weft. Default: weft's own."
            parser.add_argument(
                f"--weft{word}", dest=f"weft_{word.lower()}", help=text, env_var=variable
            )

    @classmethod
    def setOptions(cls, setOption: OptionSetter) -> None:
        """Take them into the configuration."""
        setOption("weft_queue")
        setOption("weft_url")

    def _check_accelerator_request(self, requirer: Requirer) -> None:
        for accelerator in requirer.accelerators:
            if accelerator["kind"] != "gpu" or accelerator.keys() & {"model", "brand"}:
                details = ["weft gives GPUs by their number, of whatever kind a worker has."]
                raise InsufficientSystemResources(requirer, "accelerators", details=details)

    def _on_end(self, number: int, job: _Job) -> None:
        job.ended_at = time.monotonic()
        self._ends.put(number)

    def _told(self, number: int, job: _Job) -> UpdatedBatchJobInfo:
        """Return an end, and log what failed: Toil's users look there."""
        status, reason = end_of(job.submitted.end)
        ref = None if (error := job.submitted.ref.exception()) else job.submitted.ref.result()
        if ref is None:
            logger.warning("weft: %s", error)
        elif status:
            try:
                why, log = self._bridge.why(ref), self._bridge.log(ref, LOG_BYTES)
            except WeftError as away:
                why, log = f"failed, and its output cannot be had: {away}", b""
            logger.warning("%s", message(ref, why, log))
        seconds = max(job.ended_at - job.began_at, 1e-3)
        return UpdatedBatchJobInfo(number, status, reason, seconds, ref)


def _cancel_earlier(name: str, url: str | None) -> None:
    """Cancel what runs of a leader of this workflow that was killed, and wait until it is gone:
    Toil runs those jobs again, and no two of the same may change the job store.
    """
    with Client(url) as client:
        for batch in client.list_batches("state = running", name=name):
            earlier = client.get_batch(batch["id"])
            earlier.cancel()
            earlier.wait(timeout_s=GONE_S)
