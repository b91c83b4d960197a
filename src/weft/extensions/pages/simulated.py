"""The part of the page of a simulated job: its way from client to outcome, and its steps.

What has become of these follows from the time that its attempt took: a step takes as long as it
says, but for COMPUTE, of which nothing is known before the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from weft.core.states import shown_state
from weft.ports.store import Row

DONE: Final = "done"
RUNNING: Final = "running"
WAITING: Final = "waiting"
FAILED: Final = "failed"
SKIPPED: Final = "not taken"
_LASTS: Final = {"SLEEP": "durationMs", "HTTP_CALL": "latencyMs"}
_UNKNOWN: Final = "COMPUTE"


class StepNow(NamedTuple):
    """A step, and what has become of it."""

    step: Mapping[str, Any]
    state: str
    after_ms: int | None
    """When it began or will begin, from the start; None: that depends on a COMPUTE."""
    lasts_ms: int | None


def steps_now(
    steps: Sequence[Mapping[str, Any]], elapsed_ms: int | None, end: str | None, reason: str | None
) -> list[StepNow]:
    """Return what has become of each step. `elapsed_ms`: since the start, None: it has not
    started; `end`: the state with which the attempt ended, None: it runs.
    """
    found: list[StepNow] = []
    after: int | None = 0
    is_over = elapsed_ms is None
    for step in steps:
        lasts = (
            None
            if step["action"] == _UNKNOWN
            else int(step.get(_LASTS.get(step["action"], ""), 0))
        )
        until = None if after is None or lasts is None else after + lasts
        if is_over:
            state = WAITING if end is None else SKIPPED
        elif end == "success":
            state = DONE
        elif step["action"] == "FAIL" and reason == "exit":
            state, is_over = FAILED, True
        elif reason == "exit" or (until is not None and until <= (elapsed_ms or 0)):
            state = DONE
        else:
            state, is_over = RUNNING if end is None else FAILED, True
        found.append(StepNow(step, state, after, lasts))
        after = until
    return found


def change_in_ms(found: Sequence[StepNow], elapsed_ms: int) -> int | None:
    """Return when the step that runs is over; None: time alone does not tell."""
    for one in found:
        if one.state == RUNNING and one.after_ms is not None and one.lasts_ms is not None:
            return max(1, one.after_ms + one.lasts_ms - elapsed_ms)
    return None


_ENDED: Final = frozenset({"success", "failed", "error", "cancelled"})


class Station(NamedTuple):
    """A place that a job passes."""

    name: str
    says: str
    at: datetime | str | None
    state: str


@dataclass(frozen=True)
class Simulated:
    """A simulated job as it is now."""

    way: Sequence[Station]
    steps: Sequence[StepNow]
    change_in_ms: int | None
    """When the page is worth to be read again, though nothing happens to the job."""
    computes: bool
    """Whether a step takes a time that nobody knows."""


def simulated_of(
    document: Row | None, job: Mapping[str, Any], attempts: Sequence[Row], history: Sequence[Row]
) -> Simulated | None:
    """Return what the page of a simulated job shows; None: it is another one."""
    simulation = (document or {}).get("simulation")
    if not simulation:
        return None
    has_ended = job["state"] in _ENDED
    last = attempts[-1] if attempts and (has_ended or job["state"] == "running") else None
    elapsed = _elapsed_ms(job, attempts, last)
    end = str(job["state"]) if has_ended else None
    reason = None if last is None or not has_ended else last["reason"]
    steps = steps_now(simulation["steps"], elapsed, end, reason)
    return Simulated(
        way=_way(job, last, history, has_ended=has_ended),
        steps=steps,
        change_in_ms=None if elapsed is None else change_in_ms(steps, elapsed),
        computes=any(step.step["action"] == "COMPUTE" for step in steps),
    )


def _elapsed_ms(job: Mapping[str, Any], attempts: Sequence[Row], last: Row | None) -> int | None:
    """Return how long the last attempt has run, by the clock of the database."""
    if last is None or last["started_at"] is None:
        return None
    before = sum(_ran_ms(attempt) for attempt in attempts if attempt is not last)
    return max(0, int(job["times"]["running_ms"]) - before)


def _ran_ms(attempt: Row) -> int:
    if attempt["started_at"] is None or attempt["ended_at"] is None:
        return 0
    started, ended = (_moment(attempt[name]) for name in ("started_at", "ended_at"))
    return round((ended - started).total_seconds() * 1000)


def _moment(at: datetime | str) -> datetime:
    return datetime.fromisoformat(at) if isinstance(at, str) else at


def _way(
    job: Mapping[str, Any], last: Row | None, history: Sequence[Row], *, has_ended: bool
) -> list[Station]:
    """Return the stations of a job, of which at most one is where it is now."""
    sent, state = history[0], str(job["state"])
    way = [
        Station("Client", str(sent["actor"]).removeprefix("user "), None, DONE),
        Station("API", "took it", sent["at"], DONE),
    ]
    if last is not None:
        way += [
            Station("Scheduler", "gave it to a worker", last["claimed_at"], DONE),
            Station("Worker", last["worker"], last["started_at"], DONE if has_ended else RUNNING),
        ]
    elif has_ended:
        way += [Station("Scheduler", "gave it to nobody", None, SKIPPED)]
    else:
        way += [Station("Scheduler", shown_state(job), None, RUNNING)]
    if last is None:
        way += [Station("Worker", "–", None, SKIPPED if has_ended else WAITING)]
    if not has_ended:
        return [*way, Station("Outcome", "–", None, WAITING)]
    at = history[-1]["at"] if last is None else last["ended_at"]
    return [*way, Station("Outcome", state, at, DONE if state == "success" else FAILED)]
