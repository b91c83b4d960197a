"""The figures of an outcome: how long jobs waited, and what the machines did meanwhile."""

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weft.core.pools import Pool
from weft.core.swf import Trace, TraceJob
from weft_simulator.model.outcome import TraceOutcome
from weft_simulator.model.pool_run import Options, check_sizes, run_pool
from weft_simulator.model.static import run_easy, run_fifo

SHORT_S: Final = 10.0
"""A job that runs for less counts as if it ran for this long: else its slowdown says nothing.
Source: D. G. Feitelson et al., "Theory and practice in parallel job scheduling", JSSPP 1997."""
HOUR_S: Final = 3600.0
Figures = dict[str, Any]


def figures_of(
    outcome: TraceOutcome, jobs: Sequence[TraceJob], cost: float | None = None
) -> Figures:
    """Return the figures; `cost`: instead of the sum over the prices of the machines."""
    waits = waits_of(outcome, jobs)
    slowdowns = [
        max((wait + job.run_s) / max(job.run_s, SHORT_S), 1.0)
        for wait, job in zip(waits, jobs, strict=True)
    ]
    machine_s = sum(machine.end_s - machine.begin_s for machine in outcome.machines)
    used = sum(
        job.cpu_m / 1000 * job.run_s
        for index, job in enumerate(jobs)
        if index not in outcome.errors
    )
    had = core_seconds(outcome)
    if cost is None:
        cost = sum(
            (machine.end_s - machine.begin_s) / HOUR_S * machine.price_per_hour
            for machine in outcome.machines
        )
    return {
        "wait_s": _spread(waits),
        "slowdown": _spread(slowdowns),
        "utilisation": round(used / had, 4) if had else 0.0,
        "lost_attempts": sum(outcome.lost.values()),
        "errors": len(outcome.errors),
        "preempted": len(outcome.stops),
        "machines": len(outcome.machines),
        "machine_hours": round(machine_s / HOUR_S, 2),
        "core_hours": round(had / HOUR_S, 2),
        "cost": round(cost, 2),
        "span_s": round(end_of(outcome, jobs) - jobs[0].submit_s, 3),
    }


def waits_of(outcome: TraceOutcome, jobs: Sequence[TraceJob]) -> list[float]:
    """Return how long each job waited."""
    return [start - job.submit_s for start, job in zip(outcome.starts, jobs, strict=True)]


def end_of(outcome: TraceOutcome, jobs: Sequence[TraceJob]) -> float:
    """Return when the last job ended."""
    ends = [start + job.run_s for start, job in zip(outcome.starts, jobs, strict=True)]
    for index, at in outcome.errors.items():
        ends[index] = at
    return max(ends)


def core_seconds(outcome: TraceOutcome) -> float:
    """Return for how long the machines existed, times their cores."""
    return sum(one.cpu_m / 1000 * (one.end_s - one.begin_s) for one in outcome.machines)


def equal_cpu_m(outcome: TraceOutcome, jobs: Sequence[TraceJob]) -> int:
    """Return the size of a cluster that has as many core hours in the same time, in whole cores;
    at least that of the largest job.
    """
    span_s = end_of(outcome, jobs) - jobs[0].submit_s
    cores = math.ceil(core_seconds(outcome) / span_s) if span_s else 1
    return max(cores * 1000, *(job.cpu_m for job in jobs))


def users_of(outcomes: Iterable[TraceOutcome], jobs: Sequence[TraceJob]) -> list[Figures]:
    """Return how long the jobs of each user waited, those with most core hours first."""
    indexes: dict[int, list[int]] = {}
    for index, job in enumerate(jobs):
        indexes.setdefault(job.user, []).append(index)
    waits = {outcome.name: waits_of(outcome, jobs) for outcome in outcomes}
    found = [
        {
            "user": user,
            "jobs": len(own),
            "core_hours": round(
                sum(jobs[index].cpu_m / 1000 * jobs[index].run_s for index in own) / HOUR_S, 2
            ),
            "wait_s": {
                name: _spread([all_waits[index] for index in own])
                for name, all_waits in waits.items()
            },
        }
        for user, own in indexes.items()
    ]
    return sorted(found, key=lambda one: (-float(str(one["core_hours"])), one["user"]))


def _spread(values: Sequence[float]) -> Figures:
    ordered = sorted(values)
    return {
        "mean": round(math.fsum(ordered) / len(ordered), 3),
        "p50": round(_percentile(ordered, 0.5), 3),
        "p95": round(_percentile(ordered, 0.95), 3),
        "max": round(ordered[-1], 3),
    }


def _percentile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of all does not exceed."""
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Three ways to run a trace."""

    jobs: Sequence[TraceJob]
    outcomes: Sequence[TraceOutcome]
    """The pool, then the clusters."""
    document: dict[str, Any]


def compare(
    pool: Pool, trace: Trace, options: Options, *, load: float = 1.0, name: str
) -> Comparison:
    """Run a trace on a pool and on clusters; `load` divides the time between submissions.

    Raise `JobNeverStarts`.
    """
    jobs = trace.jobs
    if load != 1.0:
        jobs = [job._replace(submit_s=job.submit_s / load) for job in jobs]
    check_sizes(pool, jobs, trace=name)
    begun = time.perf_counter()
    weft = run_pool(pool, jobs, options)
    wall_s = time.perf_counter() - begun
    cpu_m = equal_cpu_m(weft, jobs)
    outcomes = [weft, run_fifo(jobs, cpu_m), run_easy(jobs, cpu_m)]
    figures = figures_of(weft, jobs)
    price = figures["cost"] / core_seconds(weft) if core_seconds(weft) else 0.0
    policies = {
        one.name: figures_of(one, jobs, None if one is weft else price * core_seconds(one))
        for one in outcomes
    }
    document = {
        "trace": name,
        "jobs": len(jobs),
        "left_out": trace.n_left_out,
        "pool": pool.name,
        "seed": options.seed,
        "boot_s": options.boot_s,
        "load": load,
        "losses_per_hour": options.losses_per_hour,
        "max_running": options.limits.max_running,
        "max_running_per_user": options.limits.max_running_per_user,
        "max_running_per_application": options.limits.max_running_per_application,
        "priorities": {str(user): one for user, one in sorted(options.priorities.items())},
        "static_cores": cpu_m // 1000,
        "policies": policies,
        "users": users_of(outcomes, jobs),
        "speed": {
            "wall_s": round(wall_s, 3),
            "times_real_time": round(figures["span_s"] / wall_s),
            "decisions": weft.n_decisions,
            "decisions_per_s": round(weft.n_decisions / wall_s),
        },
    }
    return Comparison(jobs=jobs, outcomes=outcomes, document=document)
