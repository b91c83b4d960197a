import os
import time
from pathlib import Path

from weft.telemetry import metrics


def _value(name: str, **labels: str) -> float:
    return metrics.REGISTRY.get_sample_value(name, labels) or 0


def test_call_is_counted_and_timed_by_function() -> None:
    before = _value("weft_store_call_seconds_count", function="claim_jobs")
    failures = _value("weft_store_call_failures_total", function="claim_jobs")
    metrics.observe_call("claim_jobs", 0.004, failed=False)

    assert _value("weft_store_call_seconds_count", function="claim_jobs") == before + 1
    assert _value("weft_store_call_failures_total", function="claim_jobs") == failures


def test_failed_call_is_counted_as_such() -> None:
    before = _value("weft_store_call_failures_total", function="fold_deltas")
    metrics.observe_call("fold_deltas", 0.004, failed=True)

    assert _value("weft_store_call_failures_total", function="fold_deltas") == before + 1


def test_request_is_counted_by_its_pattern() -> None:
    labels = {"method": "GET", "route": "/v1/batches/{b}", "status": "200"}
    before = _value("weft_http_requests_total", **labels)
    metrics.observe_request("GET", "/v1/batches/{b}", 200, 0.01)

    assert _value("weft_http_requests_total", **labels) == before + 1


def test_lengths_of_queues_are_set() -> None:
    metrics.set_job_counts({"ready": 7, "running": 2})

    assert metrics.COUNTS.get_sample_value("weft_jobs", {"state": "ready"}) == 7


def test_page_shows_each_role_once(tmp_path: Path) -> None:
    metrics.observe_call("heartbeat", 0.001, failed=False)
    metrics.write_snapshot(tmp_path / "worker.prom")

    page = metrics.render("api", metrics.read_snapshots(tmp_path, age_max_s=60)).decode()

    counts = [
        line
        for line in page.splitlines()
        if line.startswith("weft_store_call_seconds_count") and 'function="heartbeat"' in line
    ]
    assert sorted('role="worker"' in line for line in counts) == [False, True]
    assert page.count("# TYPE weft_store_call_seconds ") == 1


def test_metrics_of_a_role_that_was_killed_are_left_out(tmp_path: Path) -> None:
    for role, age_s in (("driver", 10), ("worker", 100)):
        file = tmp_path / f"{role}.prom"
        metrics.write_snapshot(file)
        written_at = time.time() - age_s
        os.utime(file, (written_at, written_at))

    assert list(metrics.read_snapshots(tmp_path, age_max_s=60)) == ["driver"]
