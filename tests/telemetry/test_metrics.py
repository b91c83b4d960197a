import os
import time
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from cases import cases
from weft.telemetry import metrics


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
