"""The port `lookup`: what is known elsewhere about an item of a production line.

Each plug-in runs in one process of its own, which has no secrets in its environment and is killed
if a question is not answered in time. Built in: `http`, `sql`. Loaded by the entry points
`weft.lookups`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from msgspec import Struct

from weft.ports.plugins import PluginGroup
from weft.ports.source import SourceSite

ANSWER_BYTES_MAX: Final = 64 << 10
"""Of an answer as JSON."""


class Question(NamedTuple):
    """What is asked about an item. The same question has the same answer."""

    name: str
    """Of the look-up."""
    plugin: str
    options: str
    """As JSON."""
    cache_s: float


class Answered(Struct, frozen=True):
    """What came back. `value` None: there it is known that there is nothing."""

    value: Any = None
    away: str | None = None
    """Why there is no answer; None: there is one."""
    alone: bool = False
    """That is so for this question; others of the look-up may have an answer."""


class LookUpAway(Exception):
    """There is no answer now; the text tells operators why. `alone`: to this question only."""

    def __init__(self, message: str, *, alone: bool = False) -> None:
        super().__init__(message)
        self.alone = alone


class LookUp(Protocol):
    """Answers questions, several at the same time, each in a thread."""

    def look_up(self, options: Mapping[str, Any], site: SourceSite) -> object:
        """Return what is known, as JSON; None: nothing. Raise `LookUpAway`."""


class AsksLookUps(Protocol):
    """Asks plug-ins, away from this process."""

    async def ask(
        self,
        tenant_id: int,
        questions: Sequence[Question],
        sealed: Mapping[str, Any] | None = None,
    ) -> Mapping[Question, Answered]:
        """Return an answer to each question. Once a look-up is away, it is not asked again.
        `sealed`: the secrets that they name, as of `DueSource`.
        """

    async def close(self) -> None:
        """End all processes."""


LOOKUP_PLUGINS: Final = PluginGroup[Callable[[], LookUp]]("weft.lookups", "look-up")
