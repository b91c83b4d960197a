"""Names of attempts."""

from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.attempt_key import AttemptKey, parse_attempt_name


@given(st.integers(1, 10**17), st.integers(1, 10**8), st.integers(1, 2**15 - 1))
def test_a_name_means_one_attempt(batch_id: int, job_id: int, attempt: int) -> None:
    key = AttemptKey(batch_id, job_id, attempt)

    assert parse_attempt_name(key.name) == key


@cases("name", ["weft-b1-j2", "weft-b1-j2-a0", "weft-b01-j2-a1", "b1-j2-a1", ""])
def test_other_names_are_not_ours(name: str) -> None:
    assert parse_attempt_name(name) is None
    assert AttemptKey(12, 7, 1).name == "weft-b12-j7-a1"
