"""The records of the topics over which simulated jobs travel: their names, keys, headers, values.

    created ──▶ scheduler ──run──▶ worker ──completed, failed──▶ scheduler ──▶ dead

Keys are ids of jobs, values JSON; fields and headers that nobody knows are ignored.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid4, uuid5

import msgspec

from weft.core.bounded import Unreadable, read_json
from weft.core.ends.end_words import MESSAGE_CHARS_MAX
from weft.wire.documents.simulations import SimulationDocument, known_fields

CREATED: Final = "job-created"
RUN: Final = "run-job"
COMPLETED: Final = "job-completed"
FAILED: Final = "job-failed"
DEAD: Final = "job-dead-letter"
PARTITIONS: Final[Mapping[str, int]] = {CREATED: 1, RUN: 3, COMPLETED: 3, FAILED: 3, DEAD: 1}
OUTCOMES: Final = (COMPLETED, FAILED)
TRACE: Final = "traceId"
EVENT: Final = "eventId"
RUN_EVENT: Final = "runEventId"
"""In outcomes: of which run. Others leave it out; then the outcome is that of the open run."""
JOB: Final = "jobId"
TOPICS: Final = "topics"
"""In the identity of a job that travels: over which set; beside it its id and trace id."""
COME: Final = "come"
"""In the identity of a job that a record has brought."""
TRACE_CHARS_MAX: Final = 100
_INT_MAX: Final = 2**31 - 1


class Malformed(Exception):
    """A record that cannot be used."""


class Envelope(NamedTuple):
    """What all records say."""

    job_id: str
    trace_id: str
    event_id: UUID


class BadInstruction(Malformed):
    """A record whose job is known, but not what it does."""

    def __init__(self, envelope: Envelope, why: str) -> None:
        super().__init__(why)
        self.envelope = envelope


class RunJob(NamedTuple):
    """A job is to be run once."""

    envelope: Envelope
    simulation: SimulationDocument


class JobCreated(NamedTuple):
    """A job is to be run until it succeeds or has failed too often."""

    envelope: Envelope
    simulation: SimulationDocument
    retries_max: int


class Outcome(NamedTuple):
    """A run has ended."""

    envelope: Envelope
    """With the outcome's own event id, to know repeats by."""
    run_event_id: str | None
    is_failed: bool
    error: str


def run_event_id(job_id: str, attempt: int) -> UUID:
    """Return the id of the run of an attempt: the same whenever it is asked for."""
    return uuid5(UUID(job_id), f"attempt {attempt}")


def created_event_id(job_id: str) -> UUID:
    """Return the id under which weft says that a job was created: it knows its own by it."""
    return uuid5(UUID(job_id), "created")


def headers_of(trace_id: str, event_id: UUID | None = None) -> dict[str, str]:
    """Return headers; `event_id`: None: a new one."""
    return {TRACE: trace_id, EVENT: str(event_id or uuid4())}


def read_created(value: bytes, headers: Mapping[str, bytes]) -> JobCreated:
    """Read a record of `job-created`. Raise `Malformed`."""
    envelope, body = _read(value, headers)
    kind, retries = body.get("type"), body.get("maxRetries")
    if kind != "SIMULATION":
        raise BadInstruction(envelope, "type: expected SIMULATION")
    if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= _INT_MAX:
        raise BadInstruction(envelope, "maxRetries: expected a whole number, 0 or more")
    return JobCreated(envelope, _simulation(envelope, body), retries)


def read_run(value: bytes, headers: Mapping[str, bytes]) -> RunJob:
    """Read a record of `run-job`. Raise `Malformed`."""
    envelope, body = _read(value, headers)
    return RunJob(envelope, _simulation(envelope, body))


def read_outcome(topic: str, value: bytes, headers: Mapping[str, bytes]) -> Outcome:
    """Read a record of `job-completed` or `job-failed`; the name of the topic may have a prefix.
    Raise `Malformed`.
    """
    envelope, body = _read(value, headers)
    is_failed = topic.endswith(FAILED)
    error = body.get("errorMessage") if is_failed else None
    return Outcome(
        envelope,
        _header(headers, RUN_EVENT),
        is_failed,
        error[:MESSAGE_CHARS_MAX] if isinstance(error, str) else "",
    )


def _read(value: bytes, headers: Mapping[str, bytes]) -> tuple[Envelope, dict[str, Any]]:
    body = _body(value)
    trace_id, event_id = _header(headers, TRACE), _header(headers, EVENT)
    if not trace_id or len(trace_id) > TRACE_CHARS_MAX or not trace_id.isprintable():
        raise Malformed(f"the header {TRACE} is missing, too long or not printable")
    return Envelope(
        str(_uuid(body.get(JOB), JOB)), trace_id, _uuid(event_id, f"the header {EVENT}")
    ), body


def _body(value: bytes) -> dict[str, Any]:
    try:
        body = read_json(value)
    except Unreadable as error:
        raise Malformed(f"the value is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise Malformed("the value is not a JSON object")
    return body


def _uuid(text: object, what: str) -> UUID:
    try:
        return UUID(text if isinstance(text, str) else "")
    except ValueError:
        raise Malformed(f"{what} is missing, or no UUID") from None


def _header(headers: Mapping[str, bytes], name: str) -> str | None:
    try:
        return headers[name].decode() if name in headers else None
    except UnicodeDecodeError:
        raise Malformed(f"the header {name} is not UTF-8") from None


def _simulation(envelope: Envelope, body: Mapping[str, Any]) -> SimulationDocument:
    instruction = body.get("instruction")
    steps = instruction.get("steps") if isinstance(instruction, dict) else None
    if not isinstance(steps, list):
        raise BadInstruction(envelope, "instruction: expected an object with a list `steps`")
    try:
        document = msgspec.convert(
            {"steps": [known_fields(step) for step in steps]}, SimulationDocument
        )
    except msgspec.ValidationError as error:
        raise BadInstruction(envelope, f"instruction: {error}") from error
    for step in document.steps:
        numbers = [one for one in msgspec.structs.asdict(step).values() if isinstance(one, int)]
        if any(not -_INT_MAX <= n <= _INT_MAX for n in numbers):
            raise BadInstruction(envelope, "instruction: a number has more than 32 bits")
    return document
