"""The executor: all jobs of a workflow in one batch of `weft.bridge`; it asks no job how it is."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, Final

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.jobs import JobExecutorInterface

from snakemake_executor_plugin_weft.documents import document_of, name_of
from snakemake_executor_plugin_weft.runs import Run, message
from weft import WeftError
from weft.bridge import Bridge, Submitted

ROUND_S: Final = 1.0
QUIET_S: Final = 5.0
"""When nothing happens for so long, weft is asked why."""
LOG_BYTES: Final = 10_000_000
LOGS: Final = ".snakemake/weft_logs"


class Executor(RemoteExecutor):
    """What Snakemake calls."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (Snakemake's)
        self._news = threading.Event()
        self._round_s = ROUND_S
        self._heard_at = time.monotonic()
        self._earlier: dict[str, str] | None = None
        self._adopted: list[str] = []
        self._why = ""
        super().__init__(*arguments, **named)  # starts the thread that calls check_active_jobs

    def __post_init__(self) -> None:
        self.next_seconds_between_status_checks = 0
        self._run = Run()
        try:
            self._bridge = Bridge(self._run.name)
        except WeftError as error:
            raise WorkflowError(f"weft: {error}") from error

    def run_job(self, job: JobExecutorInterface) -> None:
        """Run one job."""
        self.run_jobs([job])

    def run_jobs(self, jobs: Sequence[JobExecutorInterface]) -> None:
        """Send all jobs that are ready in one request."""
        for job in jobs:
            self.run_job_pre(job)
        adopted = self._adopt(jobs)
        documents = [None if job in adopted else self._document(job) for job in jobs]
        for job, submitted in [
            (job, adopted.get(job) or self._bridge.submit(document))
            for job, document in zip(jobs, documents, strict=True)
        ]:
            try:
                ref = submitted.ref.result()
            except (WeftError, CancelledError) as error:
                self._report_error(SubmittedJobInfo(job), f"weft: {error} ")
                continue
            self.report_job_submission(SubmittedJobInfo(job, ref, {"weft": submitted}))
            submitted.end.add_done_callback(lambda _: self._news.set())
        self._heard_at = time.monotonic()

    async def check_active_jobs(
        self, active_jobs: Sequence[SubmittedJobInfo]
    ) -> AsyncIterator[SubmittedJobInfo]:
        """Wait until a job ends; report those that have."""
        if not any(_submitted(info).end.done() for info in active_jobs):
            await asyncio.to_thread(self._news.wait, self._round_s)
        self._news.clear()
        for info in active_jobs:
            if _submitted(info).end.done():
                self._heard_at = time.monotonic()
                self._report_end(info)
            else:
                yield info
        self._tell_why(active_jobs)

    def cancel_jobs(self, _: Sequence[SubmittedJobInfo]) -> None:
        """Cancel the whole run, and what it adopted of another."""
        self._bridge.cancel_all()
        self._bridge.cancel(self._adopted)

    def shutdown(self) -> None:
        """End the run: all jobs have ended or are cancelled."""
        self._round_s = 0
        self._news.set()
        super().shutdown()
        self._bridge.close()
        self._run.end()

    def _document(self, job: JobExecutorInterface) -> dict[str, Any]:
        shared = self.workflow.storage_settings.assume_common_workdir
        settings = vars(own) if (own := self.workflow.executor_settings) else {}
        cwd = str(Path.cwd()) if shared else None
        return document_of(job, self.format_job_exec(job), settings, self.envvars(), cwd)

    def _adopt(self, jobs: Sequence[JobExecutorInterface]) -> Mapping[Any, Submitted]:
        """Return what still runs of a run that was killed, or has ended well since then."""
        if self._earlier is None:
            self._earlier = dict(self._bridge.refs_by_name()) if self._run.was_killed else {}
        attached = {}
        for job in jobs:
            registered = self.dag.incomplete_external_jobid(job)
            by_name = self._earlier.pop(name_of(job), None)
            if ref := registered or by_name:
                attached[job] = self._bridge.attach(ref)
        adopted = {
            job: each
            for job, each in attached.items()
            if _goes_on(each) or (self.dag.incomplete_external_jobid(job) and _is_success(each))
        }
        self._adopted += [each.ref.result() for each in adopted.values()]
        return adopted

    def _report_end(self, info: SubmittedJobInfo) -> None:
        end = _submitted(info).end
        if (error := end.exception()) is not None:
            self._report_error(info, f"weft: {error}\n")
        elif end.result().state == "success":
            self.report_job_success(info)
        else:
            ref = str(info.external_jobid)
            try:
                why, log = self._bridge.why(ref), self._bridge.log(ref, LOG_BYTES)
            except WeftError as error:
                why, log = f"failed, and its output cannot be had: {error}", b""
            file = Path(info.job.logfile_suggestion(LOGS).removesuffix(".log")) / f"{ref}.log"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(log)
            self._report_error(info, message(ref, why, log), aux_logs=[str(file)])

    def _report_error(self, info: SubmittedJobInfo, told: str, **more: Sequence[str]) -> None:
        if info.job.is_group():  # Snakemake tells no message of a group
            self.logger.error(told)
        self.report_job_error(info, msg=told, **more)

    def _tell_why(self, active_jobs: Sequence[SubmittedJobInfo]) -> None:
        """Say it once if nothing happens."""
        waiting = [info for info in active_jobs if not _submitted(info).claimed.done()]
        is_quiet = time.monotonic() > self._heard_at + QUIET_S
        if not is_quiet or not waiting or len(waiting) < len(active_jobs):
            return
        self._heard_at = time.monotonic()
        ref = str(waiting[0].external_jobid)
        why = self._bridge.why(ref)
        if why and why != self._why:
            self._why = why
            self.logger.warning("Nothing runs on weft: %s (`weft why %s` says more)", why, ref)


def _submitted(info: SubmittedJobInfo) -> Submitted:
    return info.aux["weft"]


def _goes_on(attached: Submitted) -> bool:
    return attached.ref.exception() is None and not attached.end.done()


def _is_success(attached: Submitted) -> bool:
    return attached.end.exception() is None and attached.end.result().state == "success"
