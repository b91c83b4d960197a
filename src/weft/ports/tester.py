"""The port `tester`: it says whether what blocked jobs wait for is over.

All tests of one tester run in threads of one process, which has no secrets in its environment and
is killed if it does not answer in time; so a tester may block, hang or crash, and harms no other.
Built in: `tcp`, `ssh`, `http`, `path`, `quota`, `command`; `pool` is not among them, because it
needs the database (`core/scheduling/pool_tester.py`). Loaded by the entry points `weft.testers`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from weft.core.addresses import AllowedHosts
from weft.core.ends.conditions import Tested
from weft.ports.plugins import PluginGroup


class StillBlocked(Exception):
    """The test did not pass; the text says why, for the owners of the jobs."""


@dataclass(frozen=True)
class TesterSite:
    """What a tester may do here. Jobs choose the parameters, so whatever they name is checked."""

    allowed: AllowedHosts
    """The private addresses that it may reach."""
    timeout_s: float
    paths: tuple[str, ...] = ()
    """The directories in which it may look."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """The programs that it may run, by name."""


class DueTest(Protocol):
    """One test to be made."""

    @property
    def condition_id(self) -> int:
        """Return which condition it is about."""

    @property
    def tester(self) -> str:
        """Return the name of the tester."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """Return what the job gave."""


class Tester(Protocol):
    """Tests one kind of thing."""

    @property
    def parameters(self) -> Sequence[str]:
        """Return the names of the parameters that it needs."""

    @property
    def optional(self) -> Sequence[str]:
        """Return the names of those that it also knows."""

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Look once. What it raises counts as not passed."""


TESTER_PLUGINS: Final = PluginGroup[Callable[[], Tester]]("weft.testers", "tester")
