"""The executor. A process has one bridge for each server and account. No job is asked."""

import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final

from psij import (
    InvalidJobException,
    Job,
    JobExecutor,
    JobExecutorConfig,
    JobState,
    JobStatus,
    SubmitException,
)

from weft import Client, WeftError
from weft.bridge import Bridge, Submitted
from weft.core.errors import Invalid, NotFound, Unavailable
from weft.core.states import ENDED_WORDS
from weft_psij.documents import document_of

LOG_BYTES: Final = 1_000_000
SHOWN_LINES: Final = 10
NOT_SHOWN: Final = ("", "_PSI_J_LAUNCHER_DONE")
STATES: Final = {"success": JobState.COMPLETED, "cancelled": JobState.CANCELED}
_BRIDGES: Final = dict[tuple[str | None, str | None], Bridge]()
_LOCK: Final = threading.Lock()
_STATUSES: Final = ThreadPoolExecutor(1, "weft-psij")
"""Sets statuses, in order: callbacks of users may wait for weft, and its own thread may not."""


class WeftJobExecutor(JobExecutor):
    """What PSI/J calls. `url` is that of a weft; default: as weft's command line finds it."""

    def __init__(self, url: str | None = None, config: JobExecutorConfig | None = None) -> None:
        super().__init__(url=url, config=config or JobExecutorConfig())

    def submit(self, job: Job) -> None:
        """Send a job; it has a native id such as `b4.j7` afterwards."""
        spec = self._check_job(job)
        try:
            with _words_of_psij():
                document = document_of(job, spec, self._get_launcher(spec.launcher or "single"))
                bridge = self._bridge(job)
                submitted = bridge.submit(document)
                ref = submitted.ref.result()
        except Exception:
            job.executor = None  # it may be submitted again
            raise
        with job._status_cv:
            job._native_id = ref
            is_cancelled = job.status.state == JobState.CANCELED
        if is_cancelled:
            self.cancel(job)
        self._follow(job, bridge, submitted)

    def attach(self, job: Job, native_id: str) -> None:
        """Follow a job, whoever submitted it, also one that has ended."""
        if job.status.state != JobState.NEW:
            raise InvalidJobException("Job must be in the NEW state")
        with _words_of_psij():
            bridge = self._bridge(job)
            submitted = bridge.attach(native_id)
            job._native_id = submitted.ref.result()
        job.executor = self
        self._follow(job, bridge, submitted)

    def cancel(self, job: Job) -> None:
        """Ask weft to cancel a job; what has ended stays as it is."""
        with job._status_cv:
            if job.native_id is None:  # `submit` sees it
                self._set_job_status(job, JobStatus(JobState.CANCELED, time=time.time()))
                return
        with _words_of_psij():
            self._bridge(job).cancel([job.native_id])

    def list(self) -> list[str]:
        """Return the native ids of all jobs of the user that have not ended."""
        with _words_of_psij(), Client(self.url) as client:
            mine = f'user = "{client.whoami()["user"]}" and state = running'
            return [
                f"b{batch['id']}.j{job['job_id']}"
                for batch in client.list_batches(mine)
                for job in client.get_batch(batch["id"]).list_jobs()
                if job["state"] not in ENDED_WORDS
            ]

    def _bridge(self, job: Job) -> Bridge:
        account = job.spec.attributes.account if job.spec and job.spec.attributes else None
        with _LOCK:
            if (self.url, account) not in _BRIDGES:
                name = f"psij-{Path(sys.argv[0]).stem or 'python'}-{secrets.token_hex(4)}"
                bridge = Bridge(name, url=self.url, billing_project=account)
                _BRIDGES[self.url, account] = bridge
            return _BRIDGES[self.url, account]

    def _follow(self, job: Job, bridge: Bridge, submitted: Submitted) -> None:
        self._tell(job, JobState.QUEUED, metadata={"nativeId": job.native_id})
        submitted.claimed.add_done_callback(lambda _: _later(self._tell, job, JobState.ACTIVE))
        submitted.end.add_done_callback(lambda end: _later(self._tell_end, job, bridge, end))

    def _tell(self, job: Job, state: JobState, **more: Any) -> None:  # noqa: ANN401 (of JobStatus)
        self._set_job_status(job, JobStatus(state, time=time.time(), **more))

    def _tell_end(self, job: Job, bridge: Bridge, end: "Future[Any]") -> None:
        if (error := end.exception()) is not None:
            is_cancelled = isinstance(error, CancelledError)
            state = JobState.CANCELED if is_cancelled else JobState.FAILED
            self._tell(job, state, message=f"weft: {error}")
            return
        state = STATES.get(end.result().state, JobState.FAILED)
        code, signal = end.result().exit_code, end.result().signal
        self._tell(
            job,
            state,
            exit_code=128 + signal if signal and state == JobState.FAILED else code,
            message=_message(job, bridge) if state == JobState.FAILED else None,
        )


def _later(call: Callable[..., None], *arguments: object) -> None:
    with suppress(RuntimeError):  # the program is at its end
        _STATUSES.submit(call, *arguments)


def _message(job: Job, bridge: Bridge) -> str:
    """Return what one is told of a job that failed: its cause, and how its errors begin."""
    ref = str(job.native_id)
    try:
        why, text = bridge.why(ref), bridge.log(ref, LOG_BYTES).decode(errors="replace")
    except WeftError as error:
        why, text = f"failed, and its output cannot be had: {error}", ""
    if job.spec and job.spec.stderr_path:
        file = Path(job.spec.directory or ".") / job.spec.stderr_path
        with suppress(OSError), file.open(errors="replace") as lines:
            text += "".join(islice(lines, SHOWN_LINES))
    shown = [f"  {line[:300]}" for line in text.splitlines() if line.strip() not in NOT_SHOWN][
        :SHOWN_LINES
    ]
    return "\n".join([f"weft job {ref} {why or 'failed'}", *shown, f"more: weft logs {ref}"])


@contextmanager
def _words_of_psij() -> Iterator[None]:
    try:
        yield
    except (Invalid, NotFound, ValueError) as error:
        raise InvalidJobException(f"weft: {error}") from error
    except (WeftError, CancelledError) as error:
        is_transient = isinstance(error, Unavailable)
        raise SubmitException(f"weft: {error}", transient=is_transient) from error
