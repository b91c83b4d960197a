"""`/ui/batches/{b}/jobs/{j}`: one job, why it is where it is, and the end of what it wrote.

The part of the page of a simulated job: its way from client to outcome, and its steps.

What has become of these follows from the time that its attempt took: a step takes as long as it
says, but for COMPUTE, of which nothing is known before the end.
"""

import csv
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec
from markupsafe import Markup

from weft.api.calls.path_ids import ATTEMPTS_MAX
from weft.api.http.pages import events_of, get_page, link, may_act, show
from weft.api.http.parameters import Query, batch_id_of, job_id_of
from weft.api.http.problem_documents import encode
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.api.services import Services
from weft.api.use_cases import read, why
from weft.api.use_cases.files import list_files, list_notes
from weft.api.use_cases.output import STREAMS, Outputs, read_samples
from weft.core.access.rights import Right
from weft.core.billing.usage_points import UsagePoint, points_of
from weft.core.ends.services import service_words
from weft.core.errors import AttemptNotFound, FileElsewhere, OutputElsewhere, WeftError
from weft.core.pictures.charts import steps
from weft.core.query.reach import JOB_ID_MAX
from weft.core.states import shown_state
from weft.core.text.texts import harmless
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft_pages.logs import LogText

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


NEIGHBOURS: Final = 50
FILES: Final = 100
TABLE_ROWS: Final = 100
TABLE_COLUMNS: Final = 20
_APART: Final = frozenset({"command", "trace_id"})
"""Fields of a specification that its list leaves out."""
_SHOWN: Final = ("parents", "children", "usage")
TAIL_BYTES: Final = 8 * 1024


@dataclass(frozen=True)
class Output:
    """The end of one stream of an attempt."""

    stream: str
    n_bytes: int = 0
    text: Markup | str = ""
    problem: WeftError | None = None
    """Why it cannot be read here."""

    @property
    def is_cut(self) -> bool:
        """Whether it has more than is shown."""
        return self.n_bytes > TAIL_BYTES


@dataclass(frozen=True)
class Files:
    """The first files that a job has left."""

    rows: Sequence[Row] = ()
    more: bool = False
    problem: WeftError | None = None
    """Why they are not seen from here."""


@dataclass(frozen=True)
class Neighbours:
    """One page of the parents or children of a job."""

    jobs: Sequence[Row]
    """With their states, if the reader sees them."""
    next: str | None
    """The address of the page of the next ones."""
    first: str | None
    """That of the first ones, if these are others."""
    are_all: bool = True
    """Whether there are no more than those that can be shown."""


@get_page("/ui/batches/{b:str}/jobs/{j:str}", Right.READ, query=_SHOWN)
async def show_job(request: AnyRequest) -> Response[bytes]:
    """Show a job with its attempts, its history, and the end of its output; `parents`, `children`:
    those after a number; `usage`: what this attempt used, default: the last one.
    """
    query = request.query
    services, caller = request.services, request.caller
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    job = await read.get_job(services, caller, batch_id, job_id)
    sees_batch = await services.store.sees_batch(caller, batch_id)
    path, spec = f"/ui/batches/{batch_id}/jobs/{job_id}", encode(job["spec"])
    document = msgspec.json.decode(spec)
    explained = await why.why_job(services, caller, batch_id, job_id)
    attempts = await services.store.list_attempts(caller, batch_id, job_id)
    history = await services.store.job_history(caller, batch_id, job_id)
    last = int(attempts[-1]["attempt"]) if attempts else None
    number = query.integer("usage", default=last, least=1, most=ATTEMPTS_MAX)
    return show(
        request,
        "job.html",
        here="/ui/batches",
        events=events_of(batch_id),
        path=path,
        job=job,
        may_change=await may_act(
            request, lambda one: read.get_job(services, one, batch_id, job_id)
        ),
        sees_batch=sees_batch,
        may_retry=sees_batch
        and not (await read.get_group(services, caller, batch_id, job["group_id"]))["cancelled"],
        parents=await _parents_of(services, caller, job, query, path, is_seen=sees_batch),
        children=sees_batch
        and await _page_of(services.store.list_children, caller, job, query, "children", path),
        why=[one for one in explained["causes"] if one["kind"] != "stderr"],  # the log has it
        outputs=await _outputs_of(services, caller, batch_id, job_id),
        files=await _files_of(services, caller, batch_id, job_id),
        notes=await list_notes(services, caller, batch_id, job_id) if "notes" in job else (),
        table_of=table_of,
        attempts=attempts,
        service=service_words(job),
        usage=number and await usage_of(services, caller, job, number),
        history=history,
        simulation=simulated_of(document, job, attempts, history),
        command=_command_of(document),
        spec=document and {name: one for name, one in document.items() if name not in _APART},
        spec_json=harmless(msgspec.json.format(spec, indent=2).decode()),
        limit_s=document and document.get("timeout_s"),
    )


def _command_of(document: Row | None) -> str | None:
    """Return the command as a line for a shell."""
    command = (document or {}).get("command")
    return harmless(shlex.join(command)) if command else None


async def _parents_of(
    services: Services, caller: Caller, job: Answer, query: Query, path: str, *, is_seen: bool
) -> Neighbours:
    """Return those that a job depends on; to whom the batch is not shown, the numbers of the first
    ones, which the document of the job tells, too.
    """
    if is_seen:
        return await _page_of(services.store.list_parents, caller, job, query, "parents", path)
    query.integer("parents", default=0, least=0, most=JOB_ID_MAX)
    shown = [{"job_id": one} for one in job["parents"]]
    return Neighbours(shown, next=None, first=None, are_all=job["n_parents"] == len(shown))


async def _page_of(
    list_jobs: Callable[..., Awaitable[Sequence[Row]]],
    caller: Caller,
    job: Answer,
    query: Query,
    name: str,
    path: str,
) -> Neighbours:
    """Return the page of a job's neighbours after the number that the parameter `name` says."""
    after = query.integer(name, default=0, least=0, most=JOB_ID_MAX) or 0
    found = await list_jobs(
        caller, job["batch_id"], job["job_id"], after=after, limit=NEIGHBOURS + 1
    )
    jobs = found[:NEIGHBOURS]
    more = len(found) > len(jobs)
    return Neighbours(
        jobs,
        next=link(path, {name: str(jobs[-1]["job_id"])}) if more else None,
        first=path if after else None,
    )


async def _files_of(services: Services, caller: Caller, batch_id: int, job_id: int) -> Files:
    try:
        rows = await list_files(
            services, caller, batch_id, job_id, attempt=None, after=None, limit=FILES + 1
        )
    except FileElsewhere as error:
        return Files(problem=error)
    return Files(rows[:FILES], more=len(rows) > FILES)


def table_of(text: str) -> list[list[str]]:
    """Return the first rows and columns of a note that is CSV."""
    rows = islice(csv.reader(text.splitlines(keepends=True)), TABLE_ROWS)
    return [row[:TABLE_COLUMNS] for row in rows]


async def _outputs_of(
    services: Services, caller: Caller, batch_id: int, job_id: int
) -> list[Output]:
    """Return the end of each stream of the last attempt that is not empty."""
    try:
        log = await Outputs(services, caller, batch_id).get(job_id, None)
    except AttemptNotFound:
        return []
    except OutputElsewhere as error:
        return [Output("output", problem=error)]
    outputs = []
    extent = await services.logs.extent(log)
    for stream, kind in STREAMS.items():
        if size := extent.count(kind):
            pieces = await services.logs.window(log, kind, max(0, size - TAIL_BYTES), size)
            text = LogText(is_marked=False)
            outputs.append(Output(stream, size, text.feed(pieces) + text.end()))
    return outputs


POINTS: Final = 200
ROWS: Final = 20
WIDTH, HEIGHT = 600, 100
_ABOVE: Final = 1.05
"""How high a chart is, as a multiple of the largest value in it."""


@dataclass(frozen=True)
class Line:
    """The chart of one resource."""

    path: str
    most: float
    reserved: float
    reserved_y: float
    """Where the amount that was reserved stands, counted from the top."""


@dataclass(frozen=True)
class Usage:
    """What one attempt used."""

    attempt: int
    cores: Line | None = None
    """None: there are no samples."""
    memory: Line | None = None
    until_ms: int = 0
    rows: Sequence[UsagePoint] = ()
    problem: OutputElsewhere | None = None
    """Why it cannot be read here."""
    width: int = WIDTH
    height: int = HEIGHT


async def usage_of(services: Services, caller: Caller, job: Row, attempt: int) -> Usage:
    """Return the charts of an attempt. Raise `AttemptNotFound`."""
    try:
        samples = await read_samples(services, caller, job["batch_id"], job["job_id"], attempt)
    except OutputElsewhere as error:
        return Usage(attempt, problem=error)
    points, reserved = points_of(samples, most=POINTS), job["resources"]
    if not points:
        return Usage(attempt)
    return Usage(
        attempt,
        _line([(point.at_ms, point.cores) for point in points], reserved["cpu"]),
        _line([(point.at_ms, point.memory_bytes) for point in points], reserved["memory"]),
        until_ms=points[-1].at_ms,
        rows=points_of(samples, most=ROWS),
    )


def _line(values: Sequence[tuple[float, float]], reserved: float) -> Line:
    most, until = max(value for _, value in values), max(1, values[-1][0])
    top = _ABOVE * max(most, reserved) or 1
    path = steps(values, until=until, top=top, width=WIDTH, height=HEIGHT)
    return Line(path, most, reserved, HEIGHT - HEIGHT * reserved / top)
