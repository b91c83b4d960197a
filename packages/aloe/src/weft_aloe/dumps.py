"""Dumps of Agave's jobs: lines of JSON, each a job as `GET /jobs/v2/ID` shows it, or an event as
`GET /jobs/v2/ID/history` does, with the id of its job as `jobId` or `jobUuid`.

A job becomes what the door keeps of its own jobs, with a `history` that is told instead of weft's.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from weft.core.bounded import Unreadable, read_json
from weft.registry.door import DumpFormat, DumpProblem
from weft_aloe import words

_TEXT: Final = 255
_LONGEST: Final = "999:59:59"
_HOUR: Final = 3600
_HISTORY_MAX: Final = 200
"""Entries of a job; those after them but the last one are left out."""
_SAID_MAX: Final = 1000
_DATED: Final = (
    ("RUNNING", ("remoteStarted", "started", "startTime"), "The application runs."),
    ("CLEANING_UP", ("remoteEnded",), "The application has ended."),
)
"""Statuses whose dates are in the job, too, for dumps without events."""
_Told = tuple[str, datetime, str, str]


class _WrongError(Exception):
    """A field is malformed."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def read_dump(lines: Iterable[bytes]) -> tuple[Sequence[Mapping[str, Any]], Sequence[DumpProblem]]:
    """Return the jobs of a dump, and what is wrong with its lines."""
    jobs: dict[str, tuple[int, Mapping[str, Any]]] = {}
    events: defaultdict[str, list[tuple[int, Mapping[str, Any]]]] = defaultdict(list)
    found, problems = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            document = _document(line)
            name = "jobUuid" if "jobUuid" in document else "jobId"
            if "appId" in document or ("id" in document and name not in document):
                jobs[_new_id(document, jobs)] = number, document
            else:
                events[_text(document, name, words.ID_CHARS_MAX)].append((number, document))
        except _WrongError as wrong:
            problems.append(DumpProblem(number, wrong.field, str(wrong)))
    problems += [
        DumpProblem(events[job_id][0][0], "jobId", "no line has this job")
        for job_id in events.keys() - jobs.keys()
    ]
    for job_id, (number, document) in jobs.items():
        history, wrongs = _history(events[job_id])
        problems += wrongs
        try:
            found.append(_job(job_id, document, history))
        except _WrongError as wrong:
            problems.append(DumpProblem(number, wrong.field, str(wrong)))
    return found, sorted(problems, key=lambda problem: problem.line)


def _new_id(document: Mapping[str, Any], jobs: Mapping[str, tuple[int, Mapping[str, Any]]]) -> str:
    job_id = _text(document, "id", words.ID_CHARS_MAX)
    if job_id in jobs:
        raise _WrongError("id", f"line {jobs[job_id][0]} has the same job")
    return job_id


def _document(line: bytes) -> Mapping[str, Any]:
    try:
        document = read_json(line)
    except Unreadable as error:
        raise _WrongError("", "it is no JSON") from error
    if not isinstance(document, dict):
        raise _WrongError("", "it is no JSON object")
    if b"\\u0000" in line:
        raise _WrongError("", "it has a text with NUL")
    return document


def _job(job_id: str, document: Mapping[str, Any], history: Sequence[_Told]) -> Mapping[str, Any]:
    owner, name = _text(document, "owner", _TEXT), _text(document, "name", _TEXT)
    status = _status(document)
    if status not in words.ENDED:
        raise _WrongError("status", f"it has not ended: it is {status}")
    created = _date(document, "created", "accepted")
    ended = _date(document, "ended", "endTime", "lastUpdated")
    if not created <= ended <= datetime.now(UTC):
        raise _WrongError("ended", "it ended before it was created, or in the future")
    said = document.get("lastStatusMessage") or document.get("message") or "The job has ended."
    told = sorted((*history, *_dated(document, history)), key=lambda one: one[1])
    told = [one for one in told if created <= one[1] <= ended and one[0] not in words.ENDED]
    if not told or told[0][0] != "PENDING":
        told.insert(0, ("PENDING", created, owner, "The job was accepted."))
    told[0] = (told[0][0], created, *told[0][2:])
    told = [*told[: _HISTORY_MAX - 1], (status, ended, owner, str(said)[:_SAID_MAX])]
    return {
        "id": job_id,
        "user": owner,
        "name": name,
        "created_at": created.isoformat(),
        "ended_at": ended.isoformat(),
        "kind": _text(document, "appId", _TEXT),
        "document": {
            **_kept(document, name),
            "history": [(word, at.isoformat(), by, text) for word, at, by, text in told],
        },
    }


def _dated(document: Mapping[str, Any], history: Sequence[_Told]) -> Sequence[_Told]:
    """Return what the dates of a job tell that its events do not."""
    known = {one[0] for one in history}
    return [
        (word, _date(document, *names), document["owner"], text)
        for word, names, text in _DATED
        if word not in known and any(document.get(name) is not None for name in names)
    ]


def _kept(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return what the door keeps of a job (`foreign_document`)."""
    app, memory = _text(document, "appId", _TEXT), document.get("memoryPerNode")
    n_gb = memory if isinstance(memory, int | float) and 0 < memory < words.GB else 0.5
    limit, hours = document.get("maxRunTime"), document.get("maxHours")
    if not (isinstance(limit, str) and words.seconds_of(limit)):
        limit = _LONGEST
        if isinstance(hours, int | float) and 0 < hours < _HOUR:
            limit = words.duration(hours * _HOUR)
    inputs, parameters = (_object(document, one) for one in ("inputs", "parameters"))
    return {
        "asked": {"name": name, "appId": app, "inputs": inputs, "parameters": parameters},
        "base": "",
        "name": name,
        "appId": app,
        "inputs": inputs,
        "parameters": parameters,
        "systemId": _word(document, "systemId", "executionSystem") or words.LOCAL,
        "batchQueue": _word(document, "batchQueue", "remoteQueue") or words.QUEUE,
        "nodeCount": _count(document, "nodeCount"),
        "processorsPerNode": _count(document, "processorsPerNode"),
        "memoryPerNode": n_gb,
        "memoryBytes": round(n_gb * words.GB),
        "maxRunTime": limit,
        "archive": document.get("archive") is True,
        "archiveOnAppError": document.get("archiveOnAppError") is True,
        "archiveSystem": _word(document, "archiveSystem"),
        "archivePath": _word(document, "archivePath") or "",
    }


def _history(
    events: Sequence[tuple[int, Mapping[str, Any]]],
) -> tuple[Sequence[_Told], Sequence[DumpProblem]]:
    found, problems = [], []
    for number, event in events:
        try:
            status, at = _status(event), _date(event, "created")
            if status not in words.EVENTS:  # of who may see a job, weft tells what holds here
                by, text = _word(event, "createdBy"), event.get("description")
                found.append((status, at, by or "", str(text or "")[:_SAID_MAX]))
        except _WrongError as wrong:
            problems.append(DumpProblem(number, wrong.field, str(wrong)))
    return sorted(found, key=lambda one: one[1]), problems


def _status(document: Mapping[str, Any]) -> str:
    word = _text(document, "status", _TEXT).upper()
    word = words.OLD_STATUSES.get(word, word)
    if word not in words.STATUSES and word not in words.EVENTS:
        raise _WrongError("status", f"{word[:40]!r} is no status of a job")
    return word


def _text(document: Mapping[str, Any], name: str, most: int) -> str:
    value = document.get(name)
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise _WrongError(name, "expected a text")
    if len(value) > most:
        raise _WrongError(name, f"{len(value)} characters, at most {most}")
    return value


def _word(document: Mapping[str, Any], *names: str) -> str | None:
    values = (document.get(name) for name in names)
    return next((one for one in values if isinstance(one, str) and len(one) <= _TEXT), None)


def _date(document: Mapping[str, Any], *names: str) -> datetime:
    for name in names:
        value = document.get(name)
        if value is None:
            continue
        with suppress(ValueError, TypeError):
            at = datetime.fromisoformat(value)
            return at if at.tzinfo else at.replace(tzinfo=UTC)
        raise _WrongError(name, "expected a date as 2024-05-01T10:00:00Z")
    raise _WrongError(names[0], "it is required")


def _object(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name) or {}
    if not isinstance(value, dict):
        raise _WrongError(name, "expected an object")
    return value


def _count(document: Mapping[str, Any], name: str) -> int:
    value = document.get(name)
    return value if isinstance(value, int) and 0 < value < words.GB else 1


DUMPS: Final = DumpFormat(name="agave", read=read_dump)
