"""Traces and pools for tests of the simulator."""

from collections.abc import Sequence

from weft.core.pools import Flavour, Pool
from weft.core.swf import TraceJob
from weft_simulator.model import TraceOutcome


def job(
    submit_s: float,
    run_s: float,
    cores: int,
    user: int = 1,
    limit_s: float = 0,
    application: int = -1,
) -> TraceJob:
    """Return a job that takes the cores; `limit_s`: what its user believes, at least `run_s`."""
    return TraceJob(
        number=1,
        submit_s=submit_s,
        run_s=run_s,
        cpu_m=cores * 1000,
        memory_mib=1,
        user=user,
        limit_s=max(limit_s, run_s),
        application=application,
    )


def pool(
    *cores: int, at_least: int = 0, at_most: int = 1, idle_s: float = 30, spot: Sequence[int] = ()
) -> Pool:
    """Return a pool with flavours of these sizes; those in `spot` may be taken back."""
    flavours = tuple(
        Flavour(
            name=f"f{one}",
            cpu_m=one * 1000,
            memory_mib=1000,
            price_per_hour=str(one),
            preemptible=one in spot,
        )
        for one in cores
    )
    return Pool(
        name="p",
        provider="none",
        min_workers=at_least,
        max_workers=at_most,
        idle_s=idle_s,
        flavours=flavours,
    )


def waits(outcome: TraceOutcome, jobs: Sequence[TraceJob]) -> list[float]:
    """Return how long each job waited."""
    return [start - one.submit_s for start, one in zip(outcome.starts, jobs, strict=True)]
