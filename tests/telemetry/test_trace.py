from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.telemetry.trace import (
    format_traceparent,
    new_trace_id,
    parse_trace_id,
    parse_traceparent,
)

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"


def test_new_trace_ids_differ_and_are_valid() -> None:
    first, second = new_trace_id(), new_trace_id()

    assert first != second
    assert parse_trace_id(first) == first


def test_formatted_header_reads_back() -> None:
    assert parse_traceparent(format_traceparent(TRACE)) == TRACE
    assert format_traceparent(TRACE, "weft-b1-j7-a1") == f"00-{TRACE}-9349286bf75d48b5-01"


def test_later_version_may_carry_more() -> None:
    assert parse_traceparent(f"01-{TRACE}-{SPAN}-01-what-comes") == TRACE


@cases(
    "text",
    [
        "",
        TRACE,
        f"00-{TRACE}-{SPAN}",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
    ],
)
def test_header_of_another_form_names_no_trace(text: str) -> None:
    assert parse_traceparent(text) is None


@cases("text", ["", "0" * 32, "x" * 32, TRACE + "0", "１" * 32])
def test_text_of_another_form_is_no_trace_id(text: str) -> None:
    assert parse_trace_id(text) is None


@given(st.text())
def test_no_text_breaks_the_parsers(text: str) -> None:
    assert parse_traceparent(text) is None or len(text) >= 55
    assert parse_trace_id(text) is None or len(text) >= 32
