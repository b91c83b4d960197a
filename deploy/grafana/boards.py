"""Write `weft-NAME.json`, the boards of Grafana, beside this file; `--check`: say if they are old.

A board is rows of panels, a panel a title, a unit and its queries, each with its legend.
"""

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RATE = "[$__rate_interval]"

Query = tuple[str, str]
Panel = tuple[str, str, list[Query]]


def _quantiles(metric: str, by: str = "") -> list[Query]:
    legend = f" {{{{{by}}}}}" if by else ""
    labels = f"le, {by}" if by else "le"
    return [
        (
            f"histogram_quantile({q}, sum by ({labels}) (rate({metric}_bucket{RATE})))",
            f"p{q * 100:.0f}{legend}",
        )
        for q in (0.5, 0.99)
    ]


def _rate(metric: str, by: str) -> Query:
    return f"sum by ({by}) (rate({metric}{RATE}))", f"{{{{{by}}}}}"


BOARDS: dict[str, list[Panel]] = {
    "jobs": [
        ("Jobs that have not ended", "short", [("sum by (state) (weft_jobs)", "{{state}}")]),
        ("Submitted", "ops", [_rate("weft_jobs_submitted_total", "door")]),
        ("Attempts that ended", "ops", [_rate("weft_attempts_ended_total", "outcome")]),
        ("How long attempts run", "s", _quantiles("weft_attempt_seconds", "executor")),
        (
            "Cancelled, preempted, overdue",
            "ops",
            [
                (f"sum(rate(weft_jobs_swept_total{RATE}))", "cancelled"),
                (f"sum(rate(weft_jobs_preempted_total{RATE}))", "preempted"),
                (f"sum(rate(weft_jobs_overdue_total{RATE}))", "waited too long"),
            ],
        ),
        ("Jobs with nobody (a defect)", "short", [("sum(weft_orphaned_jobs)", "orphaned")]),
        ("Callbacks", "ops", [_rate("weft_callback_attempts_total", "outcome")]),
        (
            "Schedules",
            "ops",
            [
                _rate("weft_schedule_runs_total", "outcome"),
                (f"sum(rate(weft_schedules_missed_total{RATE}))", "missed"),
            ],
        ),
    ],
    "queues": [
        ("Waiting", "short", [('sum by (queue) (weft_queue_jobs{state="waiting"})', "{{queue}}")]),
        ("Running", "short", [('sum by (queue) (weft_queue_jobs{state="running"})', "{{queue}}")]),
        (
            "Licences used",
            "percentunit",
            [
                (
                    "sum by (licence) (weft_licences_used) / sum by (licence) (weft_licences)",
                    "{{licence}}",
                ),
            ],
        ),
        (
            "Refused",
            "ops",
            [
                (f"sum(rate(weft_queue_full_total{RATE}))", "the queue was full"),
                (f"sum(rate(weft_quota_exceeded_total{RATE}))", "beyond a quota"),
            ],
        ),
        ("Blocked: what is waited for", "short", [("sum(weft_conditions)", "conditions")]),
        ("Tests of conditions", "ops", [_rate("weft_condition_tests_total", "outcome")]),
        (
            "Offers to transports",
            "short",
            [
                ("sum by (transport, state) (weft_transport_offers)", "{{transport}} {{state}}"),
            ],
        ),
        (
            "Oldest offer",
            "s",
            [("max by (transport, queue) (weft_transport_oldest_offer_seconds)", "{{queue}}")],
        ),
    ],
    "workers": [
        ("Workers", "short", [("sum by (state) (weft_workers)", "{{state}}")]),
        (
            "Running and leased",
            "short",
            [
                ("sum by (instance) (weft_running_jobs)", "{{instance}} running"),
                ("sum by (instance) (weft_leased_jobs)", "{{instance}} leased"),
            ],
        ),
        (
            "Lost and cordoned in an hour",
            "short",
            [
                ("sum(increase(weft_workers_lost_total[1h]))", "lost"),
                ("sum(increase(weft_black_holes_total[1h]))", "black holes"),
            ],
        ),
        (
            "Roles that died",
            "short",
            [
                (
                    "sum by (instance, started) (increase(weft_role_restarts_total[1h]))",
                    "{{instance}} {{started}}",
                )
            ],
        ),
        (
            "Delay of workers outside",
            "s",
            [("max by (worker) (weft_link_delay_seconds)", "{{worker}}")],
        ),
        (
            "Output that has not come yet",
            "bytes",
            [("sum by (worker) (weft_link_unshipped_bytes)", "{{worker}}")],
        ),
        ("Cache of inputs", "ops", [_rate("weft_cached_inputs_total", "outcome")]),
        (
            "Machines of pools",
            "ops",
            [
                _rate("weft_pool_decisions_total", "kind"),
                (
                    f"sum by (provider) (rate(weft_provider_failures_total{RATE}))",
                    "{{provider}} failed",
                ),
            ],
        ),
    ],
    "database": [
        (
            "Calls",
            "ops",
            [
                (
                    f"topk(10, sum by (function) (rate(weft_store_call_seconds_count{RATE})))",
                    "{{function}}",
                )
            ],
        ),
        (
            "Slowest calls, p99",
            "s",
            [
                (
                    f"topk(10, histogram_quantile(0.99, sum by (le, function) (rate(weft_store_call_seconds_bucket{RATE}))))",
                    "{{function}}",
                ),
            ],
        ),
        ("Calls that failed", "ops", [_rate("weft_store_call_failures_total", "function")]),
        ("Requests", "ops", [_rate("weft_http_requests_total", "status")]),
        ("Time to the first byte", "s", _quantiles("weft_http_request_seconds")),
        (
            "Leader, and what it folds",
            "short",
            [
                ("sum(weft_driver_leader)", "leaders"),
                (f"sum(rate(weft_deltas_folded_total{RATE}))", "deltas a second"),
            ],
        ),
        (
            "Memory of roles",
            "bytes",
            [
                (
                    "sum by (instance, role) (weft_process_resident_memory_bytes)",
                    "{{instance}} {{role}}",
                )
            ],
        ),
        (
            "Cores of roles",
            "short",
            [
                (
                    f"sum by (instance, role) (rate(weft_process_cpu_seconds_total{RATE}))",
                    "{{instance}} {{role}}",
                )
            ],
        ),
    ],
    "costs": [
        (
            "Attempts that ended: what is billed",
            "ops",
            [_rate("weft_attempts_ended_total", "outcome")],
        ),
        (
            "Hours that attempts ran, in a day",
            "h",
            [
                (
                    "sum by (executor) (increase(weft_attempt_seconds_sum[1d])) / 3600",
                    "{{executor}}",
                ),
            ],
        ),
        (
            "Projects at a limit",
            "short",
            [("sum by (stage) (increase(weft_limits_crossed_total[1d]))", "{{stage}}")],
        ),
        (
            "Stopped beyond a limit of their queue",
            "short",
            [("sum by (outcome) (increase(weft_attempts_overdue_total[1d]))", "{{outcome}}")],
        ),
        (
            "Output that apis keep",
            "bytes",
            [
                ("sum(weft_spool_bytes)", "spool"),
                ("sum(weft_input_cache_bytes)", "caches of inputs"),
            ],
        ),
        (
            "Output to the bucket",
            "Bps",
            [(f"sum(rate(weft_log_pack_bytes_total{RATE}))", "shipped")],
        ),
    ],
}


def _panel(n: int, panel: Panel) -> dict[str, Any]:
    title, unit, queries = panel
    source = {"type": "prometheus", "uid": "${source}"}
    return {
        "id": n + 1,
        "title": title,
        "type": "timeseries",
        "datasource": source,
        "gridPos": {"x": 12 * (n % 2), "y": 8 * (n // 2), "w": 12, "h": 8},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(65 + at), "datasource": source, "expr": expr, "legendFormat": legend}
            for at, (expr, legend) in enumerate(queries)
        ],
    }


def _board(name: str) -> str:
    source = {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    document = {
        "title": f"weft: {name}",
        "uid": f"weft-{name}",
        "tags": ["weft"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "utc",
        "templating": {"list": [source]},
        "annotations": {"list": []},
        "panels": [_panel(n, panel) for n, panel in enumerate(BOARDS[name])],
    }
    return json.dumps(document, indent=1) + "\n"


def main() -> int:
    """Write or check all boards."""
    old = []
    for name in BOARDS:
        file = HERE / f"weft-{name}.json"
        if not file.exists() or file.read_text() != _board(name):
            old.append(file.name)
            if "--check" not in sys.argv:
                file.write_text(_board(name))
    print(" ".join(old) or "all boards are as they should be")
    return bool(old) and "--check" in sys.argv


if __name__ == "__main__":
    sys.exit(main())
