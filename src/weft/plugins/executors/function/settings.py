"""Settings of the executor `function`."""

from dataclasses import dataclass

from weft.settings import Bytes, LargeBytes, setting


@dataclass(frozen=True, kw_only=True)
class FunctionSettings:
    """How long warm processes are kept, and how much a function may return."""

    result_bytes_max: Bytes = setting(
        256 << 20, "bytes of what a function returns", within=(1 << 10, 4 << 30)
    )
    warm_calls_max: int = setting(
        10_000, "jobs that one warm process serves", within=(1, 1_000_000_000)
    )
    warm_memory_bytes_max: LargeBytes = setting(
        1 << 30,
        "memory of a warm process after a job, above which it serves no other",
        within=(1 << 20, 1 << 40),
    )
    warm_idle_s: float = setting(
        30.0, "seconds after which an idle warm process ends", within=(0, 86400)
    )
