"""What short lists show of jobs."""

from collections.abc import Mapping

from msgspec import Struct


class JobEntry(Struct, frozen=True, gc=False):
    """Some fields of a job's document, in the same form but for times. The first ones are those of
    a row of `list_job_entries`, in their order.
    """

    job_id: int
    group_id: int
    attributes: Mapping[str, str] | None
    state: str
    reason: str | None
    """Of the attempt that ended the job."""
    exit_code: int | None
    signal: int | None
    always_run: bool
    ended_ms: int | None
    """Milliseconds since 1970."""
    duration_ms: int | None
    """None: its last attempt has not started, or it has none."""
    cost: float | None = None
    """None: no attempt has started."""
    cpu_usage: int | None = None
    """In mCPU * ms."""
    cpu_cost: float | None = None
    """None: it asks for none, as for the others."""
    memory_cost: float | None = None
    storage_cost: float | None = None
    gpu_cost: float | None = None

    @property
    def costs(self) -> tuple[float | None, ...]:
        """Those of cpu, memory, storage and gpu, in this order."""
        return self.cpu_cost, self.memory_cost, self.storage_cost, self.gpu_cost
