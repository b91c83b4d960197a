"""The executor. A process has one bridge, and with it one batch. No job is asked how it is."""

import functools
import secrets
import shlex
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from submitit.core.core import Executor, InfoWatcher, Job
from submitit.core.job_environment import JobEnvironment
from submitit.core.utils import (
    DelayedSubmission,
    FailedSubmissionError,
    JobPaths,
    UncompletedJobError,
)

from weft import WeftError
from weft.bridge import Bridge, Submitted

REQUEUE: Final = 144
"""Exit code of an attempt that has left a checkpoint, as of submitit's local jobs."""
LOG_BYTES: Final = 1_000_000
SHOWN_LINES: Final = 10
SIGNAL_DELAY_S: Final = 30.0
ATTEMPTS_MAX: Final = 100
STATES: Final = {"success": "FINISHED", "cancelled": "CANCELLED"}
Value = TypeVar("Value")


@functools.cache
def _bridge() -> Bridge:
    return Bridge(f"submitit-{Path(sys.argv[0]).stem or 'python'}-{secrets.token_hex(4)}")


class _NoWatcher(InfoWatcher):
    """Nothing is watched: the server tells ends."""


class WeftJob(Job[Value]):
    """A job; its id is that of weft, such as `b4.j7`, also for a process that has only the id."""

    watcher = _NoWatcher()
    _submitted: Submitted | None = None

    @property
    def _followed(self) -> Submitted:
        if self._submitted is None:
            self._submitted = _bridge().attach(self.job_id)
        return self._submitted

    def wait(self) -> None:
        """Wait for its end."""
        self._followed.end.exception()

    def done(self, force_check: bool = False) -> bool:  # noqa: ARG002, FBT001, FBT002 (submitit's)
        """Return whether it has ended."""
        self._followed.ref.exception()  # its end is known then if it has ended
        return self._followed.end.done()

    @property
    def state(self) -> str:
        """Return its state, in submitit's words."""
        if self.done():
            error = self._followed.end.exception()
            return "UNKNOWN" if error else STATES.get(self._followed.end.result().state, "FAILED")
        return "RUNNING" if self._followed.claimed.done() else "PENDING"

    def get_info(self, mode: str = "force") -> dict[str, str]:  # noqa: ARG002 (submitit's)
        """Return its state."""
        return {"jobState": self.state}

    def cancel(self, check: bool = True) -> None:  # noqa: ARG002, FBT001, FBT002 (submitit's)
        """Cancel it; what has ended stays as it is."""
        _bridge().cancel([self.job_id])

    def exception(self) -> UncompletedJobError | None:
        """Return what became of it if it did not end well, and where there is more."""
        error = super().exception()
        if error is not None and f"weft logs {self.job_id}" not in str(error):
            error.args = (f"{error}\n{self._words()}",)
        return error

    def _get_outcome_and_result(self) -> tuple[str, Any]:
        if not self.paths.result_pickle.exists() and self.state != "FINISHED":
            raise UncompletedJobError(self._words())
        return super()._get_outcome_and_result()

    def _words(self) -> str:
        ref = self.job_id
        try:
            why, log = _bridge().why(ref), _bridge().log(ref, LOG_BYTES)
        except WeftError as error:
            why, log = f"failed, and its output cannot be had: {error}", b""
        errors = self.stderr() or log.decode(errors="replace")
        lines = [f"  {line[:300]}" for line in errors.splitlines()[:SHOWN_LINES]]
        return "\n".join([f"weft job {ref} {why or 'failed'}", *lines, f"more: weft logs {ref}"])

    def __del__(self) -> None:
        if self._cancel_at_deletion and not self.done():
            self.cancel()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_submitted": None}


class WeftExecutor(Executor):
    """What `AutoExecutor` calls. `folder` must be at the same place for workers."""

    job_class = WeftJob

    def __init__(self, folder: str | Path, max_num_timeout: int = 3) -> None:
        super().__init__(folder)
        self.max_num_timeout = max_num_timeout

    @classmethod
    def affinity(cls) -> int:
        """Return 0: it is taken if it is asked for."""
        return 0

    @classmethod
    def _valid_parameters(cls) -> set[str]:
        return {"queue", "priority", "setup", "signal_delay_s"}

    def _internal_update_parameters(self, **parameters: Any) -> None:  # noqa: ANN401 (submitit's)
        for name in ("nodes", "tasks_per_node"):
            if parameters.get(name, 1) != 1:
                raise ValueError(f"a job on weft is one task: say {name}=1, or submit several")
        super()._internal_update_parameters(**parameters)

    def _internal_process_submissions(
        self, delayed_submissions: list[DelayedSubmission]
    ) -> list[Job[Any]]:
        """Send all in one request."""
        folder = JobPaths.get_first_id_independent_folder(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        pickles = [folder / f"{secrets.token_hex(16)}.pkl" for _ in delayed_submissions]
        for delayed, file in zip(delayed_submissions, pickles, strict=True):
            delayed.set_timeout(self.parameters.get("timeout_min", 0), self.max_num_timeout)
            delayed.dump(file)
        try:
            sent = [_bridge().submit(self._document(file)) for file in pickles]
            return [self._job(each, file) for each, file in zip(sent, pickles, strict=True)]
        except (WeftError, CancelledError) as error:
            raise FailedSubmissionError(f"weft: {error}") from error

    def _job(self, submitted: Submitted, file: Path) -> Job[Any]:
        job = WeftJob[Any](self.folder, submitted.ref.result())
        job._submitted = submitted
        job.paths.folder.mkdir(parents=True, exist_ok=True)
        file.rename(job.paths.submitted_pickle)
        file.unlink(missing_ok=True)  # it stays if the job has made the same link
        return job

    def _document(self, file: Path) -> Mapping[str, Any]:
        said = self.parameters
        timeout_s = 60 * said.get("timeout_min", 0)
        document = {
            "name": said.get("name"),
            "script": "\n".join(self._script(file, timeout_s)),
            "cwd": str(Path.cwd()),
            "env": {"SUBMITIT_EXECUTOR": "weft"},
            "timeout_s": timeout_s + SIGNAL_DELAY_S if timeout_s else None,
            "max_attempts": min(self.max_num_timeout + 1, ATTEMPTS_MAX),
            "retry_on": [f"exit:{REQUEUE}"],
            "queue": said.get("queue"),
            "priority": said.get("priority"),
            "resources": {
                "cpu": said.get("cpus_per_task", 1),
                "gpu": said.get("gpus_per_node", 0),
                "memory": int(said.get("mem_gb", 0) * 2**30),
            },
        }
        document["resources"] = {k: v for k, v in document["resources"].items() if v}
        return {word: value for word, value in document.items() if value is not None}

    def _script(self, file: Path, timeout_s: float) -> Sequence[str]:
        """Return what runs: it writes both to the files of submitit and to the log of the job."""
        paths = JobPaths(self.folder, "$WEFT_JOB", 0)
        target, out, err = (
            shlex.quote(str(path)).replace("$WEFT_JOB", "'$WEFT_JOB'")
            for path in (paths.submitted_pickle, paths.stdout, paths.stderr)
        )
        command = [sys.executable, "-u", "-m", "submitit.core._submit", str(self.folder)]
        if timeout_s:
            delay_s = min(self.parameters.get("signal_delay_s", SIGNAL_DELAY_S), timeout_s / 2)
            ahead = ["timeout", "--foreground", "--preserve-status", "-s", JobEnvironment.USR_SIG]
            command = [*ahead, "-k", str(delay_s), str(timeout_s - delay_s), *command]
        errors = "2>&1" if self.parameters.get("stderr_to_stdout") else f"2> >(tee -a {err} >&2)"
        return [
            "#!/bin/bash",
            f"mkdir -p $(dirname {target})",
            f"ln {shlex.quote(str(file))} {target} 2>/dev/null",
            *self.parameters.get("setup", ()),
            f"exec > >(tee -a {out}) {errors}",
            f"exec {shlex.join(command)}",
        ]


class WeftJobEnvironment(JobEnvironment):
    """What a job sees of itself."""

    _env = {"job_id": "WEFT_JOB"} | dict.fromkeys(
        ("num_tasks", "num_nodes", "node", "global_rank", "local_rank"), "SUBMITIT_WEFT_NOT_SET"
    )

    def _requeue(self, countdown: int) -> NoReturn:  # noqa: ARG002 (submitit's)
        sys.exit(REQUEUE)
