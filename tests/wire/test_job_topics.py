"""Records of the topics of jobs: what is read, and what is poison."""

import json
from typing import Any
from uuid import UUID

import pytest

from cases import cases
from weft.wire import job_topics as wire
from weft.wire.documents.simulations import Log, Sleep
from weft_jobweaver.documents import event_id

JOB = "6d2c85c9-0b1a-4c1e-9a57-3f1d2b4c5e60"
HEADERS = {"traceId": b"t", "eventId": b"0f2b7a11-52c4-4a0e-8f0a-9d5c1e7b3a42", "more": b"\xff"}


def body(**fields: object) -> bytes:
    return json.dumps({"jobId": JOB, **fields}).encode()


def steps(*found: object) -> dict[str, Any]:
    return {"steps": list(found), "more": 1}


def test_a_run_is_read_without_what_nobody_knows() -> None:
    """Of headers and fields."""
    value = body(
        instruction=steps(
            {"action": "SLEEP", "durationMs": 1, "more": 2}, {"action": "LOG", "message": None}
        ),
        more=3,
    )
    found = wire.read_run(value, HEADERS)

    assert found.simulation.steps == (Sleep(duration_ms=1), Log(message=None))
    assert found.envelope == (JOB, "t", UUID(HEADERS["eventId"].decode()))


def test_a_created_job_is_read() -> None:
    value = body(type="SIMULATION", instruction=steps(), maxRetries=2**31 - 1)

    assert wire.read_created(value, HEADERS).retries_max == 2**31 - 1


@cases(
    ("value", "headers"),
    [
        (b"", HEADERS),
        (b"\xff", HEADERS),
        (b"[]", HEADERS),
        (b"{}", HEADERS),
        (b'{"jobId": 1}', HEADERS),
        (b'{"jobId": "x"}', HEADERS),
        (b"[" * 100_000, HEADERS),
        (body(), {}),
        (body(), {"traceId": b"t"}),
        (body(), {**HEADERS, "eventId": b"x"}),
        (body(), {**HEADERS, "traceId": b""}),
        (body(), {**HEADERS, "traceId": b"x" * 101}),
        (body(), {**HEADERS, "traceId": b"\xff"}),
    ],
)
def test_what_says_no_job_is_poison(value: bytes, headers: dict[str, bytes]) -> None:
    """On the topics of outcomes, too: one without an id of its own could count again."""
    with pytest.raises(wire.Malformed) as caught:
        wire.read_run(value, headers)
    assert not isinstance(caught.value, wire.BadInstruction)
    with pytest.raises(wire.Malformed):
        wire.read_outcome("job-completed", value, headers)


@cases(
    "instruction",
    [
        None,
        [],
        {},
        {"steps": None},
        steps(None),
        steps({"action": "DANCE"}),
        steps({}),
        steps({"action": "SLEEP"}),
        steps({"action": "SLEEP", "durationMs": 2**31}),
        steps({"action": "COMPUTE", "iterations": "1"}),
    ],
)
def test_an_instruction_that_cannot_be_read_says_whose_it_is(instruction: object) -> None:
    with pytest.raises(wire.BadInstruction) as caught:
        wire.read_run(body(instruction=instruction), HEADERS)
    assert caught.value.envelope.job_id == JOB


@cases(
    "fields", [{"type": "OTHER"}, {"maxRetries": -1}, {"maxRetries": True}, {"maxRetries": None}]
)
def test_a_created_job_that_cannot_be_is_refused(fields: dict[str, object]) -> None:
    good = {"type": "SIMULATION", "instruction": steps(), "maxRetries": 0}
    with pytest.raises(wire.Malformed):
        wire.read_created(body(**{**good, **fields}), HEADERS)


def test_an_outcome_is_read_with_the_run_that_it_names() -> None:
    """A message may be null; one that is no text counts as none."""
    envelope = (JOB, "t", UUID(HEADERS["eventId"].decode()))
    named = {**HEADERS, "runEventId": b"r"}

    assert wire.read_outcome("job-completed", body(), HEADERS) == (envelope, None, False, "")
    assert wire.read_outcome("job-failed", body(errorMessage="no"), named) == (
        envelope,
        "r",
        True,
        "no",
    )
    assert wire.read_outcome("job-failed", body(errorMessage=None), HEADERS).error == ""


def test_a_run_has_the_id_that_its_execution_is_shown_with() -> None:
    assert str(wire.run_event_id(JOB, 3)) == event_id(JOB, 3)
    assert wire.created_event_id(JOB) != wire.run_event_id(JOB, 1)
