"""Metrics in the Prometheus format: every name, and the functions that set them.

Each process counts for itself. The api shows its own counts and those of its host's other roles,
which leave theirs in a file (`write_snapshot`); a label `role` tells them apart.
"""

import os
import re
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
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

REGISTRY: Final = CollectorRegistry(auto_describe=True)
"""What this process counts, for everybody on the site."""
COUNTS: Final = CollectorRegistry(auto_describe=True)
"""What a scrape sets for its caller, and shows to nobody else."""
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
NO_DOOR: Final = "v1"
"""The label of what came through no door."""
_LABEL: Final = re.compile(r'(\w+)="(?:[^"\\]|\\.)*"')
_PARTITION: Final = ("group", "topic", "partition")
_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

ProcessCollector(namespace="weft", registry=REGISTRY)

_counter: Final = partial(Counter, registry=REGISTRY)
_gauge: Final = partial(Gauge, registry=REGISTRY)
_histogram: Final = partial(Histogram, registry=REGISTRY)
shown: Final = partial(Gauge, registry=COUNTS)
STORE_CALL_SECONDS: Final = _histogram(
    "weft_store_call_seconds",
    "time and count of the calls of each database function",
    ["function"],
    buckets=_SECONDS,
)
STORE_CALL_FAILURES: Final = _counter(
    "weft_store_call_failures", "calls of each database function that raised", ["function"]
)
HTTP_REQUESTS: Final = _counter(
    "weft_http_requests", "requests answered", ["method", "route", "status"]
)
HTTP_REQUEST_SECONDS: Final = _histogram(
    "weft_http_request_seconds",
    "time from a request to the first byte of its answer",
    ["route"],
    buckets=_SECONDS,
)
LOOP_STOOD_SECONDS: Final = _histogram(
    "weft_api_loop_stood_seconds",
    "times for which an api served nobody, as one piece of work held it up",
)
LOGINS_FAILED: Final = _counter("weft_logins_failed", "requests with a wrong token")
HTTP_STREAMS: Final = _gauge("weft_http_streams", "open streams of events and logs", ["kind"])
JOBS: Final = shown(
    "weft_jobs", "jobs that have not ended, by state: the lengths of the queues", ["state"]
)
QUEUE_JOBS: Final = shown(
    "weft_queue_jobs", "jobs that wait and run in each queue of the tenant", ["queue", "state"]
)
LICENCES: Final = shown("weft_licences", "licences in all", ["licence"])
LICENCES_USED: Final = shown("weft_licences_used", "licences that jobs have", ["licence"])
TRANSPORT_OFFERS: Final = shown(
    "weft_transport_offers",
    "jobs that travel over a transport, by what is with them",
    ["transport", "queue", "state"],
)
TRANSPORT_OLDEST_SECONDS: Final = shown(
    "weft_transport_oldest_offer_seconds",
    "age of the oldest offer that nobody has taken",
    ["transport", "queue"],
)
TRANSPORT_DEPTH: Final = shown(
    "weft_transport_depth",
    "messages that a transport had to deliver of a queue, or that were not done (lag)",
    ["transport", "queue"],
)
TRANSPORT_UP: Final = _gauge(
    "weft_transport_up", "1 while a transport answers this driver", ["transport"]
)
TRANSPORT_MESSAGES: Final = _counter(
    "weft_transport_messages", "messages of offers that were sent", ["transport", "outcome"]
)
TRANSPORT_UNACKNOWLEDGED: Final = _gauge(
    "weft_transport_unacknowledged",
    "messages of a queue of RabbitMQ that this process has got and not acknowledged",
    ["queue"],
)
TRANSPORT_REDELIVERED: Final = _counter(
    "weft_transport_redelivered",
    "messages of a queue of RabbitMQ that came here and had come to somebody before",
    ["queue"],
)
TRANSPORT_REFUSED: Final = _counter(
    "weft_transport_refused", "messages of transports that are none of weft's", ["transport"]
)
TRANSPORT_DEAD: Final = _counter(
    "weft_transport_dead",
    "messages that nobody wanted and that were kept",
    ["transport", "reason"],
)
TRANSPORT_DEAD_KEPT: Final = shown(
    "weft_transport_dead_kept", "messages that nobody wanted and that are there", ["transport"]
)
TRANSPORT_ANSWERS: Final = _counter(
    "weft_transport_answers",
    "answers of programs that are not weft's, by what became of them",
    ["transport", "outcome"],
)
SUBMISSIONS_TAKEN: Final = _counter(
    "weft_submissions_taken",
    "batches that came by a transport, by what became of them",
    ["transport", "outcome"],
)
TRANSPORT_COMMANDS: Final = _counter(
    "weft_transport_commands",
    "signals, messages, cancels and more time for programs that are not weft's, by what became "
    "of them",
    ["transport", "outcome"],
)
TRANSPORT_LOST: Final = _counter(
    "weft_transport_offers_lost",
    "offers to programs that are not weft's that nobody answered",
    ["transport", "queue"],
)
TOPIC_RUNS: Final = _counter(
    "weft_topic_runs", "runs whose outcomes this worker has published", ["outcome"]
)
TOPIC_OUTCOMES: Final = _counter(
    "weft_topic_outcomes", "outcomes that have come: how they ended a run, or ignored", ["outcome"]
)
TOPIC_POISON: Final = _counter(
    "weft_topic_poison", "records of topics that cannot be used", ["topic"]
)
TOPIC_IN_FLIGHT: Final = _gauge(
    "weft_topic_in_flight", "records of a partition that are not done", _PARTITION
)
TOPIC_LAG: Final = _gauge(
    "weft_topic_lag", "records of a partition behind the position of its group", _PARTITION
)
TOPIC_SMALLEST: Final = _gauge(
    "weft_topic_smallest_offset",
    "smallest offset of a partition that is not done; -1: none",
    _PARTITION,
)
TOPIC_COMMITS: Final = _counter(
    "weft_topic_commits", "commits of the position of a partition", _PARTITION
)
TOPIC_JOBS: Final = _counter(
    "weft_topic_jobs", "jobs that records have brought, by what became of them", ["outcome"]
)
TOPIC_ANNOUNCED: Final = _counter("weft_topic_announced", "records that tell of jobs", ["topic"])
WORKERS: Final = shown("weft_workers", "workers by state", ["state"])
RUNNING_JOBS: Final = _gauge("weft_running_jobs", "live job processes of this worker")
LEASED_JOBS: Final = _gauge("weft_leased_jobs", "attempts claimed ahead and not started yet")
CONDITIONS: Final = shown("weft_conditions", "what blocked jobs of the tenant wait for, each once")
CONDITION_TESTS: Final = _counter(
    "weft_condition_tests", "tests of what blocked jobs wait for", ["outcome"]
)
CONDITION_TEST_LATE_SECONDS: Final = _histogram(
    "weft_condition_test_late_seconds",
    "time from the due date of a test of what blocked jobs wait for to its begin",
    buckets=_SECONDS,
)
POOL_DECISIONS: Final = _counter(
    "weft_pool_decisions", "decisions about machines of pools", ["kind"]
)
PROVIDER_FAILURES: Final = _counter(
    "weft_provider_failures", "calls of providers that failed", ["provider"]
)
ATTEMPTS_ENDED: Final = _counter(
    "weft_attempts_ended", "attempts that ended on this worker", ["outcome"]
)
ATTEMPT_SECONDS: Final = _histogram(
    "weft_attempt_seconds",
    "how long attempts ran that ended on this worker",
    ["executor"],
    buckets=(0.1, 1, 10, 60, 600, 3600, 36000, 86400),
)
ENVIRONMENT_SECONDS: Final = _histogram(
    "weft_environment_seconds",
    "how long installations of requirements of jobs took, by what became of them",
    ["outcome"],
    buckets=(1, 10, 60, 600, 3600),
)
JOBS_SUBMITTED: Final = _counter(
    "weft_jobs_submitted",
    "jobs that were submitted, by the door through which they came",
    ["door"],
)
GUARD_FAILURES: Final = Counter(
    "weft_guard_failures",
    "guards that could not be evaluated and counted as false",
    ["queue"],
    registry=COUNTS,
)
_guard_failures: dict[int, dict[str, int]] = {}
"""By tenant and queue."""
QUEUES_FULL: Final = _counter("weft_queue_full", "submissions refused because a queue was full")
CALLS_WAITED: Final = _counter(
    "weft_user_calls_waited", "calls of the database that waited for others of the same user"
)
QUOTAS_EXCEEDED: Final = _counter(
    "weft_quota_exceeded",
    "submissions refused because a user or a tenant would have more than a quota allows",
)
APPS_SAVED: Final = _counter("weft_apps_saved", "applications that were given other content")
SCHEDULE_RUNS: Final = _counter("weft_schedule_runs", "runs of schedules that ended", ["outcome"])
SOURCE_READINGS: Final = _counter(
    "weft_source_readings", "readings of sources that ended", ["outcome"]
)
SOURCE_ITEMS: Final = _counter("weft_source_items", "items that sources have found")
ITEMS_DECIDED: Final = _counter(
    "weft_items_decided", "what became of items of sources", ["outcome"]
)
ITEMS_LATE: Final = _counter("weft_items_late", "items that came late in their series", ["then"])
SCHEDULES_MISSED: Final = _counter("weft_schedules_missed", "due times of schedules without a run")
SPOOL_BYTES: Final = _gauge("weft_spool_bytes", "output of workers outside that this api keeps")
SPOOL_BYTES_REMOVED: Final = _counter(
    "weft_spool_removed_bytes", "bytes of output of workers outside that were removed", ["why"]
)
SPOOL_REFUSALS: Final = _counter(
    "weft_spool_refusals",
    "parts of output of workers outside that were refused, since there is no room",
)
INPUTS: Final = _counter(
    "weft_cached_inputs",
    "files that were fetched into the cache of inputs, and given from it",
    ["outcome"],
)
INPUT_CACHE_BYTES: Final = _gauge("weft_input_cache_bytes", "what the cache of inputs holds")
LINK_DELAY_SECONDS: Final = _gauge(
    "weft_link_delay_seconds",
    "time of a heartbeat of a worker outside, there and back",
    ["pool", "worker"],
)
LINK_UNSHIPPED_BYTES: Final = _gauge(
    "weft_link_unshipped_bytes",
    "output of a worker outside that has not come yet",
    ["pool", "worker"],
)
LINK_INPUT_CACHE_BYTES: Final = _gauge(
    "weft_link_input_cache_bytes",
    "what the cache of inputs of a worker outside holds",
    ["pool", "worker"],
)
LOG_PACKS: Final = _counter(
    "weft_log_packs", "packs of output for the bucket, by outcome", ["outcome"]
)
LOG_PACK_BYTES: Final = _counter(
    "weft_log_pack_bytes", "bytes of output that were shipped to the bucket"
)
LOG_BUCKET_BYTES_REMOVED: Final = _counter(
    "weft_log_bucket_removed_bytes",
    "bytes of output of deleted batches that were removed from the bucket",
)
LEADER: Final = _gauge("weft_driver_leader", "1 while this driver leads")
DELTAS_FOLDED: Final = _counter("weft_deltas_folded", "deltas added to the sums")
TRAIL_SEALED: Final = _counter("weft_trail_sealed", "entries sealed in the trail")
JOBS_SWEPT: Final = _counter("weft_jobs_swept", "jobs settled because they were cancelled")
JOBS_PREEMPTED: Final = _counter(
    "weft_jobs_preempted", "running jobs stopped for jobs of queues of higher priority"
)
LIMITS_CROSSED: Final = _counter(
    "weft_limits_crossed", "billing projects that came below or beyond a limit", ["stage"]
)
ATTEMPTS_OVERDUE: Final = _counter(
    "weft_attempts_overdue", "attempts stopped beyond a limit of their queue", ["outcome"]
)
JOBS_OVERDUE: Final = _counter(
    "weft_jobs_overdue", "jobs that ended because they had waited beyond a limit of their queue"
)
ORPHANED_JOBS: Final = _gauge(
    "weft_orphaned_jobs",
    "jobs that have not ended and are with nobody, as of the last look at all jobs",
)
BLACK_HOLES: Final = _counter(
    "weft_black_holes", "workers cordoned because attempts fail there at once"
)
WORKERS_LOST: Final = _counter("weft_workers_lost", "workers declared lost")
CALLBACK_ATTEMPTS: Final = _counter(
    "weft_callback_attempts", "attempts to deliver a callback", ["outcome"]
)
CALLBACK_SECONDS: Final = _histogram(
    "weft_callback_seconds",
    "time of one attempt, from the name to the head of the answer",
    buckets=(*_SECONDS, 30, 60),
)
CALLBACKS_SENDING: Final = _gauge("weft_callbacks_sending", "callbacks that are being sent")
NOTICES_RECORDED: Final = _counter(
    "weft_notices_recorded", "notices to subscriptions that are to be sent"
)
ROLE_RESTARTS: Final = _counter(
    "weft_role_restarts", "roles that died and were restarted", ["started"]
)
LOG_LINES_LOST: Final = _counter("weft_log_lines_lost", "log lines that could not be written")


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
        TRANSPORT_OFFERS,
        TRANSPORT_OLDEST_SECONDS,
        TRANSPORT_DEPTH,
        TRANSPORT_DEAD_KEPT,
    ):
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
    own = "".join(generate_latest(registry).decode() for registry in registries)
    families: dict[str, list[str]] = {}
    lines: list[str] = []
    # Not parsed: a page has ten thousand lines, and all other requests wait for it.
    for name, page in {role: own, **(snapshots or {})}.items():
        is_new = False
        for line in page.split("\n"):
            if line.startswith("# HELP "):
                family = line.split(" ", 3)[2]
                is_new = family not in families
                lines = families.setdefault(family, [])
            if line.startswith("# "):
                lines += [line] * is_new
            elif line:
                lines.append(_sample_of(name, line))
    return "".join(f"{line}\n" for lines in families.values() for line in lines).encode()


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


def _sample_of(role: str, line: str) -> str:
    """Return a line of a page with the label `role`, among the others in the order of names."""
    name, is_labelled, labels = line.partition("{")
    if not is_labelled:
        return line.replace(" ", f'{{role="{role}"}} ', 1)
    for label in _LABEL.finditer(labels):
        if label[1] > "role":
            return f'{name}{{{labels[: label.start()]}role="{role}",{labels[label.start() :]}'
    end = labels.rindex("}")
    return f'{name}{{{labels[:end]},role="{role}"{labels[end:]}'
