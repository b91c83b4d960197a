"""Metrics in the Prometheus format: every name, and the functions that set them.

Each process counts for itself. The api shows its own counts and those of its host's other roles,
which leave theirs in a file (`write_snapshot`); a label `role` tells them apart.
"""

import os
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

REGISTRY: Final = CollectorRegistry(auto_describe=True)
"""What this process counts, for everybody on the site."""
COUNTS: Final = CollectorRegistry(auto_describe=True)
"""What a scrape sets for its caller, and shows to nobody else."""
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
NO_DOOR: Final = "v1"
"""The label of what came through no door."""
_PARTITION: Final = ("group", "topic", "partition")
_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

ProcessCollector(namespace="weft", registry=REGISTRY)

STORE_CALL_SECONDS: Final = Histogram(
    "weft_store_call_seconds",
    "time and count of the calls of each database function",
    ["function"],
    buckets=_SECONDS,
    registry=REGISTRY,
)
STORE_CALL_FAILURES: Final = Counter(
    "weft_store_call_failures",
    "calls of each database function that raised",
    ["function"],
    registry=REGISTRY,
)
HTTP_REQUESTS: Final = Counter(
    "weft_http_requests",
    "requests answered",
    ["method", "route", "status"],
    registry=REGISTRY,
)
HTTP_REQUEST_SECONDS: Final = Histogram(
    "weft_http_request_seconds",
    "time from a request to the first byte of its answer",
    ["route"],
    buckets=_SECONDS,
    registry=REGISTRY,
)
LOGINS_FAILED: Final = Counter(
    "weft_logins_failed", "requests with a wrong token", registry=REGISTRY
)
HTTP_STREAMS: Final = Gauge(
    "weft_http_streams", "open streams of events and logs", ["kind"], registry=REGISTRY
)
JOBS: Final = Gauge(
    "weft_jobs", "jobs that have not ended, by state: the lengths of the queues", ["state"],
    registry=COUNTS,
)  # fmt: skip
QUEUE_JOBS: Final = Gauge(
    "weft_queue_jobs", "jobs that wait and run in each queue of the tenant", ["queue", "state"],
    registry=COUNTS,
)  # fmt: skip
LICENCES: Final = Gauge("weft_licences", "licences in all", ["licence"], registry=COUNTS)
LICENCES_USED: Final = Gauge(
    "weft_licences_used", "licences that jobs have", ["licence"], registry=COUNTS
)
TRANSPORT_OFFERS: Final = Gauge(
    "weft_transport_offers", "jobs that travel over a transport, by what is with them",
    ["transport", "queue", "state"], registry=COUNTS,
)  # fmt: skip
TRANSPORT_OLDEST_SECONDS: Final = Gauge(
    "weft_transport_oldest_offer_seconds", "age of the oldest offer that nobody has taken",
    ["transport", "queue"], registry=COUNTS,
)  # fmt: skip
TRANSPORT_DEPTH: Final = Gauge(
    "weft_transport_depth",
    "messages that a transport had to deliver of a queue, or that were not done (lag)",
    ["transport", "queue"], registry=COUNTS,
)  # fmt: skip
TRANSPORT_UP: Final = Gauge(
    "weft_transport_up", "1 while a transport answers this driver", ["transport"],
    registry=REGISTRY,
)  # fmt: skip
TRANSPORT_MESSAGES: Final = Counter(
    "weft_transport_messages", "messages of offers that were sent",
    ["transport", "outcome"], registry=REGISTRY,
)  # fmt: skip
TRANSPORT_UNACKNOWLEDGED: Final = Gauge(
    "weft_transport_unacknowledged",
    "messages of a queue of RabbitMQ that this process has got and not acknowledged", ["queue"],
    registry=REGISTRY,
)  # fmt: skip
TRANSPORT_REDELIVERED: Final = Counter(
    "weft_transport_redelivered",
    "messages of a queue of RabbitMQ that came here and had come to somebody before", ["queue"],
    registry=REGISTRY,
)  # fmt: skip
TRANSPORT_REFUSED: Final = Counter(
    "weft_transport_refused", "messages of transports that are none of weft's", ["transport"],
    registry=REGISTRY,
)  # fmt: skip
TRANSPORT_DEAD: Final = Counter(
    "weft_transport_dead", "messages that nobody wanted and that were kept",
    ["transport", "reason"], registry=REGISTRY,
)  # fmt: skip
TRANSPORT_DEAD_KEPT: Final = Gauge(
    "weft_transport_dead_kept", "messages that nobody wanted and that are there",
    ["transport"], registry=COUNTS,
)  # fmt: skip
TRANSPORT_ANSWERS: Final = Counter(
    "weft_transport_answers", "answers of programs that are not weft's, by what became of them",
    ["transport", "outcome"], registry=REGISTRY,
)  # fmt: skip
SUBMISSIONS_TAKEN: Final = Counter(
    "weft_submissions_taken", "batches that came by a transport, by what became of them",
    ["transport", "outcome"], registry=REGISTRY,
)  # fmt: skip
TRANSPORT_COMMANDS: Final = Counter(
    "weft_transport_commands",
    "signals, messages, cancels and more time for programs that are not weft's, by what became "
    "of them",
    ["transport", "outcome"], registry=REGISTRY,
)  # fmt: skip
TRANSPORT_LOST: Final = Counter(
    "weft_transport_offers_lost", "offers to programs that are not weft's that nobody answered",
    ["transport", "queue"], registry=REGISTRY,
)  # fmt: skip
TOPIC_RUNS: Final = Counter(
    "weft_topic_runs", "runs whose outcomes this worker has published", ["outcome"],
    registry=REGISTRY,
)  # fmt: skip
TOPIC_OUTCOMES: Final = Counter(
    "weft_topic_outcomes", "outcomes that have come: how they ended a run, or ignored",
    ["outcome"], registry=REGISTRY,
)  # fmt: skip
TOPIC_POISON: Final = Counter(
    "weft_topic_poison", "records of topics that cannot be used", ["topic"], registry=REGISTRY
)
TOPIC_IN_FLIGHT: Final = Gauge(
    "weft_topic_in_flight", "records of a partition that are not done", _PARTITION,
    registry=REGISTRY,
)  # fmt: skip
TOPIC_LAG: Final = Gauge(
    "weft_topic_lag", "records of a partition behind the position of its group", _PARTITION,
    registry=REGISTRY,
)  # fmt: skip
TOPIC_SMALLEST: Final = Gauge(
    "weft_topic_smallest_offset", "smallest offset of a partition that is not done; -1: none",
    _PARTITION, registry=REGISTRY,
)  # fmt: skip
TOPIC_COMMITS: Final = Counter(
    "weft_topic_commits", "commits of the position of a partition", _PARTITION, registry=REGISTRY
)
TOPIC_JOBS: Final = Counter(
    "weft_topic_jobs", "jobs that records have brought, by what became of them", ["outcome"],
    registry=REGISTRY,
)  # fmt: skip
TOPIC_ANNOUNCED: Final = Counter(
    "weft_topic_announced", "records that tell of jobs", ["topic"], registry=REGISTRY
)
WORKERS: Final = Gauge("weft_workers", "workers by state", ["state"], registry=COUNTS)
RUNNING_JOBS: Final = Gauge(
    "weft_running_jobs", "live job processes of this worker", registry=REGISTRY
)
LEASED_JOBS: Final = Gauge(
    "weft_leased_jobs", "attempts claimed ahead and not started yet", registry=REGISTRY
)
CONDITIONS: Final = Gauge(
    "weft_conditions", "what blocked jobs of the tenant wait for, each once", registry=COUNTS
)
CONDITION_TESTS: Final = Counter(
    "weft_condition_tests", "tests of what blocked jobs wait for", ["outcome"],
    registry=REGISTRY,
)  # fmt: skip
CONDITION_TEST_LATE_SECONDS: Final = Histogram(
    "weft_condition_test_late_seconds",
    "time from the due date of a test of what blocked jobs wait for to its begin",
    buckets=_SECONDS,
    registry=REGISTRY,
)
POOL_DECISIONS: Final = Counter(
    "weft_pool_decisions", "decisions about machines of pools", ["kind"], registry=REGISTRY
)
PROVIDER_FAILURES: Final = Counter(
    "weft_provider_failures", "calls of providers that failed", ["provider"], registry=REGISTRY
)
ATTEMPTS_ENDED: Final = Counter(
    "weft_attempts_ended", "attempts that ended on this worker", ["outcome"], registry=REGISTRY
)
ATTEMPT_SECONDS: Final = Histogram(
    "weft_attempt_seconds", "how long attempts ran that ended on this worker", ["executor"],
    buckets=(0.1, 1, 10, 60, 600, 3600, 36000, 86400), registry=REGISTRY,
)  # fmt: skip
JOBS_SUBMITTED: Final = Counter(
    "weft_jobs_submitted", "jobs that were submitted, by the door through which they came",
    ["door"], registry=REGISTRY,
)  # fmt: skip
GUARD_FAILURES: Final = Counter(
    "weft_guard_failures",
    "guards that could not be evaluated and counted as false",
    ["queue"],
    registry=COUNTS,
)
_guard_failures: dict[int, dict[str, int]] = {}
"""By tenant and queue."""
QUEUES_FULL: Final = Counter(
    "weft_queue_full", "submissions refused because a queue was full", registry=REGISTRY
)
CALLS_WAITED: Final = Counter(
    "weft_user_calls_waited",
    "calls of the database that waited for others of the same user",
    registry=REGISTRY,
)
QUOTAS_EXCEEDED: Final = Counter(
    "weft_quota_exceeded",
    "submissions refused because a user or a tenant would have more than a quota allows",
    registry=REGISTRY,
)
APPS_SAVED: Final = Counter(
    "weft_apps_saved", "applications that were given other content", registry=REGISTRY
)
SCHEDULE_RUNS: Final = Counter(
    "weft_schedule_runs", "runs of schedules that ended", ["outcome"], registry=REGISTRY
)
SOURCE_READINGS: Final = Counter(
    "weft_source_readings", "readings of sources that ended", ["outcome"], registry=REGISTRY
)
SOURCE_ITEMS: Final = Counter(
    "weft_source_items", "items that sources have found", registry=REGISTRY
)
ITEMS_DECIDED: Final = Counter(
    "weft_items_decided", "what became of items of sources", ["outcome"], registry=REGISTRY
)
ITEMS_LATE: Final = Counter(
    "weft_items_late", "items that came late in their series", ["then"], registry=REGISTRY
)
SCHEDULES_MISSED: Final = Counter(
    "weft_schedules_missed", "due times of schedules without a run", registry=REGISTRY
)
SPOOL_BYTES: Final = Gauge(
    "weft_spool_bytes", "output of workers outside that this api keeps", registry=REGISTRY
)
SPOOL_BYTES_REMOVED: Final = Counter(
    "weft_spool_removed_bytes",
    "bytes of output of workers outside that were removed",
    ["why"],
    registry=REGISTRY,
)
SPOOL_REFUSALS: Final = Counter(
    "weft_spool_refusals",
    "parts of output of workers outside that were refused, since there is no room",
    registry=REGISTRY,
)
INPUTS: Final = Counter(
    "weft_cached_inputs", "files that were fetched into the cache of inputs, and given from it",
    ["outcome"], registry=REGISTRY,
)  # fmt: skip
INPUT_CACHE_BYTES: Final = Gauge(
    "weft_input_cache_bytes", "what the cache of inputs holds", registry=REGISTRY
)
LINK_DELAY_SECONDS: Final = Gauge(
    "weft_link_delay_seconds", "time of a heartbeat of a worker outside, there and back",
    ["pool", "worker"], registry=REGISTRY,
)  # fmt: skip
LINK_UNSHIPPED_BYTES: Final = Gauge(
    "weft_link_unshipped_bytes", "output of a worker outside that has not come yet",
    ["pool", "worker"], registry=REGISTRY,
)  # fmt: skip
LINK_INPUT_CACHE_BYTES: Final = Gauge(
    "weft_link_input_cache_bytes", "what the cache of inputs of a worker outside holds",
    ["pool", "worker"], registry=REGISTRY,
)  # fmt: skip
LOG_PACKS: Final = Counter(
    "weft_log_packs", "packs of output for the bucket, by outcome", ["outcome"], registry=REGISTRY
)
LOG_PACK_BYTES: Final = Counter(
    "weft_log_pack_bytes", "bytes of output that were shipped to the bucket", registry=REGISTRY
)
LOG_BUCKET_BYTES_REMOVED: Final = Counter(
    "weft_log_bucket_removed_bytes",
    "bytes of output of deleted batches that were removed from the bucket",
    registry=REGISTRY,
)
LEADER: Final = Gauge("weft_driver_leader", "1 while this driver leads", registry=REGISTRY)
DELTAS_FOLDED: Final = Counter("weft_deltas_folded", "deltas added to the sums", registry=REGISTRY)
TRAIL_SEALED: Final = Counter(
    "weft_trail_sealed", "entries sealed in the trail", registry=REGISTRY
)
JOBS_SWEPT: Final = Counter(
    "weft_jobs_swept", "jobs settled because they were cancelled", registry=REGISTRY
)
JOBS_PREEMPTED: Final = Counter(
    "weft_jobs_preempted",
    "running jobs stopped for jobs of queues of higher priority",
    registry=REGISTRY,
)
LIMITS_CROSSED: Final = Counter(
    "weft_limits_crossed",
    "billing projects that came below or beyond a limit",
    ["stage"],
    registry=REGISTRY,
)
ATTEMPTS_OVERDUE: Final = Counter(
    "weft_attempts_overdue",
    "attempts stopped beyond a limit of their queue",
    ["outcome"],
    registry=REGISTRY,
)
JOBS_OVERDUE: Final = Counter(
    "weft_jobs_overdue",
    "jobs that ended because they had waited beyond a limit of their queue",
    registry=REGISTRY,
)
ORPHANED_JOBS: Final = Gauge(
    "weft_orphaned_jobs",
    "jobs that have not ended and are with nobody, as of the last look at all jobs",
    registry=REGISTRY,
)
BLACK_HOLES: Final = Counter(
    "weft_black_holes", "workers cordoned because attempts fail there at once", registry=REGISTRY
)
WORKERS_LOST: Final = Counter("weft_workers_lost", "workers declared lost", registry=REGISTRY)
CALLBACK_ATTEMPTS: Final = Counter(
    "weft_callback_attempts", "attempts to deliver a callback", ["outcome"], registry=REGISTRY
)
CALLBACK_SECONDS: Final = Histogram(
    "weft_callback_seconds",
    "time of one attempt, from the name to the head of the answer",
    buckets=(*_SECONDS, 30, 60),
    registry=REGISTRY,
)
CALLBACKS_SENDING: Final = Gauge(
    "weft_callbacks_sending", "callbacks that are being sent", registry=REGISTRY
)
NOTICES_RECORDED: Final = Counter(
    "weft_notices_recorded", "notices to subscriptions that are to be sent", registry=REGISTRY
)
ROLE_RESTARTS: Final = Counter(
    "weft_role_restarts", "roles that died and were restarted", ["started"], registry=REGISTRY
)
LOG_LINES_LOST: Final = Counter(
    "weft_log_lines_lost", "log lines that could not be written", registry=REGISTRY
)


def input_cache_bytes() -> int:
    """Return what the cache of inputs of this process holds."""
    return int(next(iter(INPUT_CACHE_BYTES.collect())).samples[0].value)


def set_linked_workers(found: Mapping[tuple[str, str], tuple[float, int, int]]) -> None:
    """Set what workers outside say, by pool and name: delay in seconds, bytes to ship, bytes of
    their caches.
    """
    for n, gauge in enumerate((LINK_DELAY_SECONDS, LINK_UNSHIPPED_BYTES, LINK_INPUT_CACHE_BYTES)):
        gauge.clear()
        for worker, facts in found.items():
            gauge.labels(*worker).set(facts[n])


def observe_call(function: str, seconds: float, failed: bool) -> None:  # noqa: FBT001 (the store's one caller)
    """Count one call of a database function."""
    STORE_CALL_SECONDS.labels(function).observe(seconds)
    if failed:
        STORE_CALL_FAILURES.labels(function).inc()


def observe_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count one request. `route` is the pattern (`/v1/batches/{b}`), never the path itself."""
    HTTP_REQUESTS.labels(method, route, str(status)).inc()
    HTTP_REQUEST_SECONDS.labels(route).observe(seconds)


def set_job_counts(count_by_state: Mapping[str, int]) -> None:
    """Set the lengths of the queues, by the words of the states."""
    for state, count in count_by_state.items():
        JOBS.labels(state).set(count)


def set_queue_counts(counts: Mapping[str, tuple[int, int]]) -> None:
    """Set how many jobs wait and run in each queue, and in no others."""
    QUEUE_JOBS.clear()
    for queue, (waiting, running) in counts.items():
        QUEUE_JOBS.labels(queue, "waiting").set(waiting)
        QUEUE_JOBS.labels(queue, "running").set(running)


def count_guard_failures(tenant_id: int, queue: str, n: int) -> None:
    """Count guards of a queue that could not be evaluated."""
    _guard_failures.setdefault(tenant_id, {}).setdefault(queue, 0)
    _guard_failures[tenant_id][queue] += n


def show_guard_failures(tenant_id: int | None) -> None:
    """Show the guards of one tenant that could not be evaluated, and no others: names of queues
    are nobody else's business. None: show none.
    """
    GUARD_FAILURES.clear()
    for queue, n in _guard_failures.get(tenant_id or 0, {}).items():
        GUARD_FAILURES.labels(queue).inc(n)


def set_licence_counts(counts: Mapping[str, tuple[int, int]]) -> None:
    """Set how many there are of each licence and how many are used, and of no others."""
    LICENCES.clear()
    LICENCES_USED.clear()
    for licence, (n, n_used) in counts.items():
        LICENCES.labels(licence).set(n)
        LICENCES_USED.labels(licence).set(n_used)


def set_transport_counts(rows: Iterable[Mapping[str, Any]], now: datetime) -> None:
    """Set what is known of the queues of the tenant that travel, and of no others."""
    for gauge in (
        TRANSPORT_OFFERS, TRANSPORT_OLDEST_SECONDS, TRANSPORT_DEPTH, TRANSPORT_DEAD_KEPT
    ):  # fmt: skip
        gauge.clear()
    for row in rows:
        TRANSPORT_DEAD_KEPT.labels(row["transport"]).set(row["dead_messages"])
        for one in row["queues"]:
            of = (row["transport"], one["queue"])
            for state in ("offered", "unconfirmed", "sent_again", "in_flight"):
                TRANSPORT_OFFERS.labels(*of, state).set(one[state])
            oldest = one["oldest_at"] and datetime.fromisoformat(one["oldest_at"])
            TRANSPORT_OLDEST_SECONDS.labels(*of).set(
                (now - oldest).total_seconds() if oldest else 0
            )
            if one["messages"] is not None:
                TRANSPORT_DEPTH.labels(*of).set(one["messages"])


def write_snapshot(path: Path) -> None:
    """Leave this process's metrics for the api of this host. The file is replaced as a whole."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.touch(mode=0o600)
    temporary.write_bytes(generate_latest(REGISTRY))
    temporary.replace(path)


def render(
    role: str,
    snapshots: Mapping[str, str] | None = None,
    *,
    registries: Iterable[CollectorRegistry] = (REGISTRY, COUNTS),
) -> bytes:
    """Return the metrics of this process, and those of other roles by their name, as one page."""
    own = "".join(generate_latest(one).decode() for one in registries)
    return generate_latest(_Merged({role: own, **(snapshots or {})}))


def read_snapshots(directory: Path, *, age_max_s: float) -> dict[str, str]:
    """Return what `write_snapshot` left in a directory as `<role>.prom`, by role. Older files are
    left out: their roles were killed.
    """
    pages = {}
    for path in sorted(directory.glob("*.prom")):
        try:
            if path.stat().st_mtime > time.time() - age_max_s:
                pages[path.stem] = path.read_text()
        except FileNotFoundError:
            continue  # its role has just ended
    return pages


class _Merged:
    """The families of several pages as one, each sample with its role."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._pages = pages

    def collect(self) -> Iterable[Metric]:
        families: dict[str, Metric] = {}
        for role, page in self._pages.items():
            for family in text_string_to_metric_families(page):
                into = families.setdefault(
                    family.name, Metric(family.name, family.documentation, family.type)
                )
                for sample in family.samples:
                    labels = {**sample.labels, "role": role}
                    into.add_sample(sample.name, labels, sample.value)
        return families.values()
