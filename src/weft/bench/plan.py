"""How large a bench is, and what it tells while it runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from weft.core.errors import Internal


class BenchFailed(Internal, code="BENCH.FAILED"):
    """The measured program failed, so there is no figure."""

    advice = "Run it again; if it fails again, `weft doctor` checks the installation."


@dataclass(frozen=True, kw_only=True)
class BenchPlan:
    """The options of a bench. Each bench has its own default sizes."""

    scale: float = 1.0
    """Factor on the usual sizes."""
    jobs: int | None = None
    """Number of jobs instead of the usual one."""
    rounds: int | None = None
    """Number of rounds (weft, then its reference) instead of the usual one."""
    directory: Path | None = None
    """Where the throw-away home is made; else on a disk: `/var/tmp`."""
    trace: Path | None = None
    """A recorded workload for `simulate`."""
    part: str | None = None
    """The only part to measure, of a bench that has parts."""

    def jobs_of(self, usual: int) -> int:
        """Return how many jobs to run."""
        return max(1, round((self.jobs or usual) * self.scale))

    def wants(self, part: str) -> bool:
        """Say whether to measure a part of a bench."""
        return self.part in {None, part}

    def rounds_of(self, usual: int) -> int:
        """Return how many rounds to make."""
        return max(1, self.rounds or usual)


class BenchProgress(Protocol):
    """Receives the progress of a bench."""

    def begin(self, steps: int) -> None:
        """Say how many steps there will be."""

    def step(self, what: str) -> None:
        """Say that the next step begins."""
