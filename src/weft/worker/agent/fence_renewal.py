"""How the agent renews the fence of its runner: the time until which jobs may run on."""

from collections.abc import Callable
from dataclasses import dataclass

from weft.ports.runner import Runner


@dataclass(frozen=True, kw_only=True)
class FenceTerms:
    """When the spawner stops all jobs by itself because the database may have reassigned them."""

    after_s: float | None = None
    """Time since the database last confirmed this worker; None: never stop (for tests only)."""
    return_s: float = 0.0
    """How long the agent may take to reach the database again after an outage."""
    find_database: Callable[[], str] = str
    """Return the database's socket if the server runs on this host, else nothing."""


class Fence:
    """The runner's permission to continue, for one incarnation."""

    def __init__(self, runner: Runner, terms: FenceTerms) -> None:
        self._runner = runner
        self._terms = terms
        self._database = terms.find_database()

    def renew(self, known_ns: int) -> None:
        """Let the runner continue: the database confirmed this worker at that time."""
        if self._terms.after_s is None:
            self._runner.keep_until(0)
            return
        self._runner.keep_until(
            known_ns + int(self._terms.after_s * 1e9),
            database=self._database,
            return_ns=int(self._terms.return_s * 1e9),
        )
