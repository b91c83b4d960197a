"""What foreign programs are told, and what they may say."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from cases import cases
from weft.core.states import Reason
from weft.wire.documents.jobs import JobDocument
from weft.wire.foreign_messages import (
    BODY_BYTES_MAX,
    Malformed,
    beyond_command,
    foreign_job,
    read_answer,
)
from weft.wire.spec import JobSpec

FENCE = UUID(int=7)
OFFER = f"12.{FENCE}"


def said(**fields: Any) -> bytes:  # noqa: ANN401 (JSON)
    """Return an answer."""
    return json.dumps({"offer": OFFER, "outcome": "ended", **fields}).encode()


def test_a_message_says_the_command_and_nothing_else_of_the_spec() -> None:
    spec = JobSpec(
        command=("sort", "x"), cwd="/home/ann", inherit_env={"TOKEN": "s3cret"}, timeout_s=9.0
    )
    until = datetime(2030, 1, 1, tzinfo=UTC)
    body = foreign_job("home", 5, 3, (12, FENCE), until, spec, "t1")

    assert json.loads(body) == {
        "tenant": "home",
        "batch": "b5",
        "job": 3,
        "offer": OFFER,
        "command": ["sort", "x"],
        "until": int(until.timestamp()),
        "timeout_s": 9.0,
        "trace": "t1",
    }


@cases(
    ("fields", "field"),
    [
        ({"command": ("true",)}, None),
        ({"script": "true"}, "script"),
        ({}, "command"),
        ({"command": ("true",), "env": {"A": "b"}}, "env"),
        ({"command": ("true",), "env": {"WEFT_INDEX": "1", "WEFT_ARRAY_VALUE": "x"}}, None),
        ({"command": ("true",), "stdin": "x"}, "stdin"),
        ({"command": ("true",), "network": False}, "network"),
    ],
)
def test_what_needs_more_than_a_command_is_found(
    fields: dict[str, Any], field: str | None
) -> None:
    assert beyond_command(JobDocument(**fields)) == field
    assert beyond_command(JobSpec(**fields)) == field


def test_answers_are_read() -> None:
    assert read_answer(said(outcome="started")) == (12, FENCE, False, None, None, None)
    assert read_answer(said(exit_code=0)) == (12, FENCE, True, None, 0, None)
    assert read_answer(said(exit_code=3)) == (12, FENCE, True, Reason.EXIT, 3, None)
    assert read_answer(said(reason="no\x00 room\x1b")) == (
        12,
        FENCE,
        True,
        Reason.EXIT,
        None,
        "no  room ",
    )


@cases(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"\xff\xfe",
        b"[" * 50_000,
        said(),
        said(outcome="lost"),
        said(exit_code="0"),
        said(exit_code=2**40),
        said(offer=12, exit_code=0),
        said(offer="12", exit_code=0),
        said(offer=f"0.{FENCE}", exit_code=0),
        said(offer=f"{2**63}.{FENCE}", exit_code=0),
        said(offer="x" * 10_000, exit_code=0),
        b" " * BODY_BYTES_MAX + said(exit_code=0),
    ],
)
def test_what_is_no_answer_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        read_answer(body)
