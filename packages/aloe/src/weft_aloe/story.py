"""The story of a job in Aloe's words: one pure function of what weft knows of it.

Document, status and history all read it, so that they tell the same. It only grows: an entry that
was once told is told again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from weft_aloe.archives import is_archived
from weft_aloe.words import ENDED, STORE, user_of

_PENDING: Final = "PENDING"
_TAKEN: Final = "PROCESSING_INPUTS"
_RUNNING: Final = "RUNNING"
_BLOCKED: Final = "BLOCKED"
_STAGING_INPUTS: Final = "STAGING_INPUTS"
_STAGED: Final = "STAGED"
_BEFORE_START: Final = (
    (_TAKEN, "A worker has taken the job."),
    (_STAGING_INPUTS, "The inputs are brought."),
    (_STAGED, "The inputs are there."),
    ("STAGING_JOB", "The application is made ready."),
    ("SUBMITTING", "The application is handed over to be started."),
)
_AT_START: Final = (
    ("QUEUED", "The application has its place on the worker."),
    (_RUNNING, "The application runs."),
)
_ENDS: Final = {
    "success": "FINISHED",
    "failed": "FAILED",
    "error": "FAILED",
    "cancelled": "STOPPED",
}
_STOPPED: Final = "The job was stopped."
_EVENTS: Final = {
    "hidden": ("DELETED", "The job was hidden."),
    "unhidden": ("RESTORED", "The job is shown again."),
    "shared": ("PERMISSION_GRANT", "A permission was given to "),
    "unshared": ("PERMISSION_REVOKE", "A permission was taken from "),
}


class Entry(NamedTuple):
    """An entry of a history."""

    status: str
    """Or the name of an event."""
    at: datetime
    by: str
    text: str
    is_event: bool = False
    detail: str | None = None
    """Of a change of permissions: the user, and what they may do then, between a colon."""


@dataclass(frozen=True, kw_only=True)
class Story:
    """What happened to a job so far."""

    entries: tuple[Entry, ...]
    """The oldest first."""
    status: str
    message: str
    submitted: datetime | None
    """When a worker took it, the last time."""
    started: datetime | None
    remote_ended: datetime | None
    ended: datetime | None
    updated: datetime
    n_attempts: int
    n_blocked: int

    @property
    def error(self) -> str | None:
        """Why the job failed."""
        return self.message if self.status == "FAILED" else None


def story_of(facts: Mapping[str, Any]) -> Story:
    """Return the story of a job from what the store knows of it (`find_door_job`)."""
    imported = facts["document"].get("history")
    states = _states(facts) if imported is None else map(_imported, imported)
    told = sorted((*states, *_events(facts)), key=lambda one: one.at)
    return _told(tuple(_possible(told)))


def as_of(story: Story, at: int) -> Story:
    """Return the story as it was at one of its entries."""
    return _told(story.entries[: at + 1])


def _told(entries: tuple[Entry, ...]) -> Story:
    states = [one for one in entries if not one.is_event]
    last, words = states[-1], [state.status for state in states]
    begun = 0 if _RUNNING in words else len(words)  # what was imported may lack statuses
    if _TAKEN in words:
        begun = len(words) - 1 - words[::-1].index(_TAKEN)
    live = states[begun:]
    return Story(
        entries=entries,
        status=last.status,
        message=last.text,
        submitted=_first(live, {_TAKEN}),
        started=_first(live, {_RUNNING}),
        remote_ended=_first(live, {"CLEANING_UP", _BLOCKED, *ENDED}),
        ended=last.at if last.status in ENDED else None,
        updated=entries[-1].at,
        n_attempts=words.count(_TAKEN),
        n_blocked=words.count(_BLOCKED),
    )


def _first(states: Sequence[Entry], wanted: set[str]) -> datetime | None:
    return next((state.at for state in states if state.status in wanted), None)


def _imported(entry: Sequence[str]) -> Entry:
    status, at, by, text = entry
    return Entry(status, datetime.fromisoformat(at), by, text)


def _states(facts: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield the statuses, each no earlier than what it follows."""
    owner, at = facts["owner"], datetime.fromisoformat(facts["created_at"])
    yield Entry(_PENDING, at, owner, "The job was accepted and waits for room.")
    for fact in facts["attempts"]:
        at = max(at, datetime.fromisoformat(fact["claimed_at"]))
        for status, text in _BEFORE_START:
            if status in {_STAGING_INPUTS, _STAGED} and not facts["document"]["inputs"]:
                continue
            if status == _STAGED:
                if fact["started_at"] is None:
                    break  # its inputs are not there yet, or could not be brought
                at = max(at, datetime.fromisoformat(fact["started_at"]))
            yield Entry(status, at, owner, text)
        if fact["started_at"] is not None:
            at = max(at, datetime.fromisoformat(fact["started_at"]))
            for status, text in _AT_START:
                yield Entry(status, at, owner, text)
        if fact.get("archiving_at") is not None:
            at = max(at, _at(fact, "archiving_at"))
            yield from _leaving(facts, at, archives=True)
        if fact.get("ended_at") is not None:
            at = max(at, datetime.fromisoformat(fact["ended_at"]))
            yield from _end(facts, fact, at)
    for change in facts["changes"]:
        if "to" in change and change["to"] != change["from"]:
            yield from _change(change)
    if facts["cancelled_at"] is not None:
        yield Entry("STOPPED", max(at, _at(facts, "cancelled_at")), _who(facts), _STOPPED)


def _end(facts: Mapping[str, Any], attempt: Mapping[str, Any], at: datetime) -> Iterator[Entry]:
    owner, status = facts["owner"], _ENDS.get(attempt["to"])
    if status is None:
        why = _why(attempt) or "its worker gave it back"
        yield Entry(_BLOCKED, at, owner, f"The job will run again: {why}.")
    elif status == "STOPPED":
        yield Entry(status, at, _who(facts), _STOPPED)
    else:
        if attempt["started_at"] is not None and attempt.get("archiving_at") is None:
            kept = facts["document"]
            ended = at - timedelta(milliseconds=attempt.get("storing_ms") or 0)
            has_failed_there = kept["archive"] and attempt["reason"] == "files"
            archives = is_archived(kept, status) or has_failed_there
            yield from _leaving(facts, max(ended, _at(attempt, "started_at")), archives=archives)
        text = (
            "The job has ended." if status == "FINISHED" else f"The job failed: {_why(attempt)}."
        )
        yield Entry(status, at, owner, text)


def _leaving(facts: Mapping[str, Any], at: datetime, *, archives: bool) -> Iterator[Entry]:
    """Yield what is between the end of the application and that of the job."""
    owner, kept = facts["owner"], facts["document"]
    yield Entry("CLEANING_UP", at, owner, "The application has ended.")
    if archives:
        where = f"{kept['archivePath']} of {kept['archiveSystem'] or STORE}"
        yield Entry("ARCHIVING", at, owner, f"What it has left is copied to {where}.")


def _change(change: Mapping[str, Any]) -> Iterator[Entry]:
    at, by = _at(change, "at"), user_of(change["actor"])
    if change["to"] in _ENDS:
        status = _ENDS[change["to"]]
        why = change["message"] or change["kind"] or "weft ended it"
        yield Entry(status, at, by, _STOPPED if status == "STOPPED" else f"The job failed: {why}.")
    elif change["to"] == "blocked":
        yield Entry(_BLOCKED, at, by, f"The job waits: {change['message'] or change['kind']}.")
    elif change["from"] == "blocked":
        yield Entry(_PENDING, at, by, "The job waits for room again.")
    elif change["from"] in _ENDS:
        yield Entry(_PENDING, at, by, "The job is run again.")


def _events(facts: Mapping[str, Any]) -> Iterator[Entry]:
    for change in facts["changes"]:
        if change["kind"] in _EVENTS:
            name, text = _EVENTS[change["kind"]]
            detail = None
            if text.endswith(" "):
                detail = change["message"] or ""
                text = f"{text}{detail.partition(':')[0]}."
            at, by = _at(change, "at"), user_of(change["actor"])
            yield Entry(name, at, by, text, is_event=True, detail=detail)


def _possible(entries: list[Entry]) -> Iterator[Entry]:
    """Yield the entries without statuses after an end, unless the job is run again."""
    has_ended = False
    for one in entries:
        if not one.is_event:
            if has_ended and one.status != _PENDING:
                continue
            has_ended = one.status in ENDED
        yield one


def _why(attempt: Mapping[str, Any]) -> str:
    said = [str(attempt["reason"])] if attempt["reason"] else []
    if attempt["reason"] == "exit":
        said = [f"the application ended with exit code {attempt['exit_code']}"]
    if attempt["message"]:
        said.append(str(attempt["message"]).strip().rstrip("."))
    return ": ".join(said)


def _who(facts: Mapping[str, Any]) -> str:
    return user_of(facts["cancel"]["actor"]) if facts["cancel"] else facts["owner"]


def _at(row: Mapping[str, Any], name: str) -> datetime:
    return datetime.fromisoformat(row[name])
