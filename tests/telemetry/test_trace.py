"""Traces and metrics."""

import os
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from cases import cases
from weft.telemetry import metrics
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


def _value(name: str, **labels: str) -> float:
    return metrics.REGISTRY.get_sample_value(name, labels) or 0


@cases("failed", [False, True])
def test_call_is_counted_and_timed_by_function(*, failed: bool) -> None:
    names = ("weft_store_call_seconds_count", "weft_store_call_failures_total")
    before = [_value(name, function="claim_jobs") for name in names]
    metrics.observe_call("claim_jobs", 0.004, failed=failed)
    after = [_value(name, function="claim_jobs") for name in names]
    assert after == [before[0] + 1, before[1] + failed]


def test_request_is_counted_by_its_pattern() -> None:
    labels = {"method": "GET", "route": "/v1/batches/{b}", "status": "200"}
    before = _value("weft_http_requests_total", **labels)
    metrics.observe_request("GET", "/v1/batches/{b}", 200, 0.01)
    assert _value("weft_http_requests_total", **labels) == before + 1


def test_page_shows_each_role_once(tmp_path: Path) -> None:
    metrics.observe_call("heartbeat", 0.001, failed=False)
    metrics.write_snapshot(tmp_path / "worker.prom")

    metrics.set_licence_counts({(odd := 'a\nb,role="z"}\\{'): (1, 1)})
    page = metrics.render("api", metrics.read_snapshots(tmp_path, age_max_s=60)).decode()
    samples = [one for family in text_string_to_metric_families(page) for one in family.samples]
    counts = [one.labels for one in samples if one.name == "weft_store_call_seconds_count"]

    assert {"function": "heartbeat", "role": "worker"} in counts
    assert counts.count({"function": "heartbeat", "role": "api"}) == 1
    assert page.count("# TYPE weft_store_call_seconds ") == 1
    assert {"licence": odd, "role": "api"} in [one.labels for one in samples]
    assert {"worker", "api"} == {one.labels["role"] for one in samples}
    metrics.set_licence_counts({})


def test_metrics_of_a_role_that_was_killed_are_left_out(tmp_path: Path) -> None:
    for role, age_s in (("driver", 10), ("worker", 100)):
        file = tmp_path / f"{role}.prom"
        metrics.write_snapshot(file)
        written_at = time.time() - age_s
        os.utime(file, (written_at, written_at))

    assert list(metrics.read_snapshots(tmp_path, age_max_s=60)) == ["driver"]
