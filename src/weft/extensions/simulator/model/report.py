"""A pool beside static clusters of equal machine hours, as one document."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.core.pools import Pool
from weft.core.swf import Trace, TraceJob
from weft.extensions.simulator.model.figures import core_seconds, equal_cpu_m, figures_of, users_of
from weft.extensions.simulator.model.outcome import TraceOutcome
from weft.extensions.simulator.model.pool_run import Options, check_sizes, run_pool
from weft.extensions.simulator.model.static import run_easy, run_fifo


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
