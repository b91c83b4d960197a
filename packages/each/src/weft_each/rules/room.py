"""Whether as many jobs fit the workers as `-j` lets run at a time."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.core.billing.resources import MIB, parse_bytes, parse_cpu_m
from weft.core.text.amounts import size

DEFAULT_CPU_M: Final = 1000
DEFAULT_MEMORY: Final = 512 * MIB


def lacking_room(
    n_at_once: int, workers: Sequence[Mapping[str, Any]], resources: Mapping[str, Any]
) -> str | None:
    """Return in a sentence that fewer jobs fit the active workers, and what makes room for more.
    None: all fit, there are no workers, or what jobs reserve cannot be read here.

    >>> lacking_room(4, [{"cpu": 2, "memory": 8 << 30}], {})
    'of 4 jobs 2 fit the workers at a time, as each reserves a core; `--cpu 0.5` makes room for 4'
    """
    try:
        cpu_m = parse_cpu_m(resources.get("cpu", DEFAULT_CPU_M / 1000))
        memory = parse_bytes(resources.get("memory", DEFAULT_MEMORY))
    except ValueError:
        return None  # the server says so
    active = [
        (int(1000 * one["cpu"]), int(one["memory"]))
        for one in workers
        # One of simulations has no memory for anything else.
        if one.get("state", "active") == "active" and one["memory"] > MIB
    ]
    n_fit = _fit(active, cpu_m, memory)
    if not active or not 0 < n_fit < n_at_once:
        return None
    by_cpu = sum(all_cpu // max(1, cpu_m) for all_cpu, _ in active)
    if by_cpu < n_at_once:
        less = sum(all_cpu for all_cpu, _ in active) // n_at_once // 10 * 10
        what = "a core" if cpu_m == DEFAULT_CPU_M else f"{cpu_m / 1000:g} cores"
        option = f"--cpu {less / 1000:g}"
        helps = less > 0 and _fit(active, less, memory) >= n_at_once
    else:
        less = sum(all_memory for _, all_memory in active) // n_at_once // MIB
        what, option = f"{size(memory)} of memory", f"--memory {less}Mi"
        helps = less > 0 and _fit(active, cpu_m, less * MIB) >= n_at_once
    more = f"; `{option}` makes room for {n_at_once:,}" if helps else ""
    return (
        f"of {n_at_once:,} jobs {n_fit:,} fit the workers at a time, as each reserves {what}{more}"
    )


def _fit(workers: Sequence[tuple[int, int]], cpu_m: int, memory: int) -> int:
    return sum(
        min(all_cpu // max(1, cpu_m), all_memory // max(1, memory))
        for all_cpu, all_memory in workers
    )
