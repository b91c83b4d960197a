"""Tasks as clients are shown them: a state, and a document in one of three views."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from weft.api.http.requests import AnyRequest
from weft.api.use_cases import read
from weft.api.use_cases.files import open_file
from weft.api.use_cases.output import Outputs, missing_output
from weft.core.access.secret_variables import masked, patterns_of, without_password
from weft.core.bounded import read_json
from weft.core.errors import Conflict, NotFound
from weft.core.ids import format_job_ref
from weft_tes.jobs import ENDS, TAIL_BYTES, output_logs

Told = dict[str, Any]
VIEWS: Final = ("MINIMAL", "BASIC", "FULL")
_WAITS: Final = ("pending", "ready", "queued", "blocked")
STATES: Final[Mapping[str, Sequence[str]]] = {
    "UNKNOWN": (),
    "QUEUED": _WAITS,
    "INITIALIZING": ("creating", "running"),
    "RUNNING": ("running",),
    "PAUSED": _WAITS,
    "COMPLETE": ("success",),
    "EXECUTOR_ERROR": ("failed", "error"),
    "SYSTEM_ERROR": ("failed", "error"),
    "CANCELED": ("cancelled",),
    "PREEMPTED": (),
    "CANCELING": (*_WAITS, "creating", "running"),
}
"""Each state, and those that a job of weft has then."""
OLD: Final = "/ga4gh/tes/1.0"
"""Where clients are served that break off at some of those states."""
_OLD_STATES: Final[Mapping[str, str]] = {"PAUSED": "QUEUED", "CANCELING": "CANCELED"}
ATTEMPTS_SHOWN: Final = 20
"""The last ones."""
_FILES_MAX: Final = 1000
_ENDS_BYTES_MAX: Final = 4 << 20
_LINE_BYTES_MAX: Final = 200
"""Of a line there: five short words."""
_EXIT_MAX: Final = 255
_OWN_FAILURES: Final = {"no_program": 127, "oom": 137}
"""Exit codes of what weft calls errors, and is a failure of the executor itself there."""
_NOT_THE_EXECUTORS: Final = frozenset({"files", "deadline", "overdue", "blocked"})
_SIGNALLED: Final = 128


def state_of(facts: Mapping[str, Any]) -> str:
    """Return the state of a task from what the store knows of it (`find_door_job`)."""
    state, attempts = facts["state"], facts["attempts"]
    if state in {"success", "cancelled"}:
        return "COMPLETE" if state == "success" else "CANCELED"
    if state in {"failed", "error"}:
        return "EXECUTOR_ERROR" if attempts and _is_executors(attempts[-1]) else "SYSTEM_ERROR"
    if facts["cancel"] or facts["cancelled_at"]:
        return "CANCELING"
    if state in {"creating", "running"}:
        runs = state == "running" and attempts[-1]["started_at"]
        return "RUNNING" if runs else "INITIALIZING"
    holds = [one["kind"] for one in facts["changes"] if one["kind"] in {"held", "released"}]
    return "PAUSED" if holds[-1:] == ["held"] else "QUEUED"


def _is_executors(attempt: Mapping[str, Any]) -> bool:
    """Say whether an attempt ended because of its executors, well or not."""
    if attempt["to"] == "error":
        return attempt["reason"] in _OWN_FAILURES
    return attempt["to"] in {"success", "failed"} and attempt["reason"] not in _NOT_THE_EXECUTORS


async def task_document(request: AnyRequest, facts: Mapping[str, Any], view: str) -> Told:
    """Return a task in a view, and in a state that clients of the path know."""
    services, state = request.services, state_of(facts)
    if request.scope["path"].startswith(OLD):
        state = _OLD_STATES.get(state, state)
    least = {"id": facts["foreign_id"], "state": state}
    if view == "MINIMAL":
        return least
    task, masks = dict(facts["document"]["task"]), patterns_of(services.settings.masked_env)
    for executor in task["executors"]:
        if "env" in executor:
            executor["env"] = masked(executor["env"], masks)
    inputs = task.get("inputs", [])
    for file in (*inputs, *task.get("outputs", ())):
        file.setdefault("type", "FILE")
        if "url" in file:
            file["url"] = without_password(file["url"])
    if view == "FULL" and any("url" not in one for one in inputs):
        _, raw = await read.get_foreign_job(services, request.caller, facts["batch_id"], 1)
        for file, content in zip(inputs, read_json(raw or b"[]"), strict=False):
            if content is not None:
                file["content"] = content
    told = _Told(request, facts, is_full=view == "FULL")
    attempts = [one for one in facts["attempts"] if one.get("to") != "ready"][-ATTEMPTS_SHOWN:]
    logs = {"logs": [await told.log(one) for one in attempts]} if attempts else {}
    return {**task, **least, "creation_time": _instant(facts["created_at"]), **logs}


class _Told:
    """What attempts of a task have told."""

    def __init__(self, request: AnyRequest, facts: Mapping[str, Any], *, is_full: bool) -> None:
        self._services = request.services
        self._of = (request.services, request.caller, facts["batch_id"])
        self._kept = facts["document"]
        self._is_full = is_full

    async def log(self, attempt: Mapping[str, Any]) -> Told:
        """Return the log of an attempt."""
        job, number = format_job_ref(self._of[2], 1), attempt["attempt"]
        metadata = {"weft": job, "attempt": str(number)}
        log: Told = {"logs": [], "outputs": [], "metadata": metadata}
        times = {"start_time": _instant(attempt["started_at"] or attempt["claimed_at"])}
        if attempt.get("ended_at"):
            times["end_time"] = _instant(attempt["ended_at"])
            log["logs"] = await self._ends(attempt, times)
        if self._kept["targets"] and attempt.get("to") == "success":
            rows = await self._services.store.list_files(
                *self._of[1:], 1, attempt=number, after=None, limit=_FILES_MAX
            )
            log["outputs"] = output_logs(self._kept["targets"], job, rows)
        notes = [note for note in (*self._kept["notes"], attempt.get("message")) if note]
        return log | times | ({"system_logs": notes} if self._is_full and notes else {})

    async def _ends(self, attempt: Mapping[str, Any], times: Mapping[str, str]) -> list[Told]:
        """Return how the executors of an attempt ended, which began and ended at `times`."""
        if not _is_executors(attempt):
            return []
        if self._kept["is_noted"]:
            with suppress(NotFound, Conflict):
                file = await open_file(*self._of, 1, ENDS, attempt=attempt["attempt"])
                blocks = file.read(0, min(file.n_bytes, _ENDS_BYTES_MAX))
                noted, n = (
                    b"".join([b async for b in blocks]),
                    len(self._kept["task"]["executors"]),
                )
                return ends_of(noted, n, is_full=self._is_full)
            return []
        code = _OWN_FAILURES.get(attempt["reason"], attempt["exit_code"])
        code = _SIGNALLED + (attempt["signal"] or 0) if code is None else code
        end = {"exit_code": code, **times}
        return [end | (await self._tails(attempt["attempt"]) if self._is_full else {})]

    async def _tails(self, attempt: int) -> Told:
        outputs = Outputs(*self._of)
        log = await outputs.find(1, attempt)
        tails = {}
        if log is not None and missing_output(self._services.logs, log) is None:
            for stream in ("stdout", "stderr"):
                size = await outputs.size(log, stream)
                blocks = outputs.read(log, stream, max(0, size - TAIL_BYTES), size)
                tails[stream] = _text(b"".join([block async for block in blocks]))
        return tails


def ends_of(noted: bytes, n_max: int, *, is_full: bool) -> list[Told]:
    """Return what the script of a task has noted: a line and the tails of each executor, of which
    there are `n_max`. The task may have written there itself, whatever it likes.
    """
    found: list[Told] = []
    at = 0
    while len(found) < n_max:
        line_end = noted.find(b"\n", at, at + _LINE_BYTES_MAX)
        try:
            code, begun, ended, *sizes = noted[at : max(at, line_end)].decode().split()
            n_out, n_err = map(int, sizes)
            exit_code = int(code)
        except ValueError:
            break
        if not 0 <= exit_code <= _EXIT_MAX or min(n_out, n_err) < 0:
            break
        end: Told = {"exit_code": exit_code, "start_time": begun, "end_time": ended}
        begin, middle = line_end + 1, line_end + 1 + n_out
        at = middle + n_err
        if is_full:
            end |= {"stdout": _text(noted[begin:middle]), "stderr": _text(noted[middle:at])}
        found.append(end)
    return found


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def _instant(at: datetime | str) -> str:
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
