"""Ids of batches and jobs, and names of attempts."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.errors import BadId
from weft.core.ids import (
    format_batch_id,
    format_job_ref,
    parse_batch_id,
    parse_job_id,
    parse_job_ref,
    parse_schedule_id,
)
from weft.core.states import AttemptKey, parse_attempt_name

batches = st.integers(1, 10**18 - 1)
jobs = st.integers(1, 10**9 - 1)


@given(batches)
def test_batch_reads_back(batch: int) -> None:
    assert parse_batch_id(format_batch_id(batch)) == batch
    assert parse_batch_id(str(batch)) == batch


@given(batches, jobs)
def test_job_reads_back(batch: int, job: int) -> None:
    assert parse_job_ref(format_job_ref(batch, job)) == (batch, job)
    assert parse_job_ref(f"{batch}.{job}") == (batch, job)
    assert parse_job_id(f"j{job}") == job


NO_BATCHES = ["", "b", "b0", "0", "-1", "b-1", "1.5", " b1", "b1 ", "B1", "j1", "b１", "b1\n"]


@cases("text", [*NO_BATCHES, "b" + "9" * 19])
def test_what_is_no_batch_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(BadId) as caught:
        parse_batch_id(text)

    assert "b12" in caught.value.detail
    assert caught.value.hint.startswith("List batches with `weft ls`")
    assert BadId("-1", expected="a message has a number").hint == "Correct it and try again."
    assert caught.value.exit_code == 2


@cases("text", ["", "b1", "s", "s0", "S1", "1s"])
def test_what_is_no_schedule_is_refused_with_where_they_are_listed(text: str) -> None:
    with pytest.raises(BadId) as caught:
        parse_schedule_id(text)

    assert "s3" in caught.value.detail
    assert "weft schedule ls" in caught.value.hint


@cases("text", ["", "b1", "7", "j7", "b1.", ".7", "b1.j0", "b1.j1.2", "b1j7"])
def test_what_is_no_job_is_refused(text: str) -> None:
    with pytest.raises(BadId) as refused:
        parse_job_ref(text)
    assert ("`weft jobs b1` lists" in (refused.value.detail or "")) == (text == "b1")


def test_a_number_within_a_batch_names_no_batch() -> None:
    with pytest.raises(BadId):
        parse_job_id("b1.j7")


@given(st.text())
def test_no_text_breaks_the_parsers(text: str) -> None:
    for parse in (parse_batch_id, parse_job_id, parse_job_ref):
        with contextlib.suppress(BadId):
            parse(text)


@given(st.integers(1, 10**17), st.integers(1, 10**8), st.integers(1, 2**15 - 1))
def test_a_name_means_one_attempt(batch_id: int, job_id: int, attempt: int) -> None:
    key = AttemptKey(batch_id, job_id, attempt)

    assert parse_attempt_name(key.name) == key


@cases("name", ["weft-b1-j2", "weft-b1-j2-a0", "weft-b01-j2-a1", "b1-j2-a1", ""])
def test_other_names_are_not_ours(name: str) -> None:
    assert parse_attempt_name(name) is None
    assert AttemptKey(12, 7, 1).name == "weft-b12-j7-a1"
