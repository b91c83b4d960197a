"""The port `source`: what yields items, each of which becomes a job of a production line.

Each source is read in a process of its own, which has no secrets in its environment and is killed
if a reading does not end in time; so a source may block, hang or crash, and harms no other. Built
in: `amqp`, `command`, `directory`, `http`, `kafka`, `s3`, `schedule`, `sql`. Loaded by the entry
points `weft.sources`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from weft.core.addresses import AllowedHosts, parse_allowed_hosts
from weft.ports.plugins import PluginGroup

INTEGER_MAX: Final = 2**63
KEY_CHARS_MAX: Final = 256
ITEM_BYTES_MAX: Final = 64 << 10
"""Of the fields of an item as JSON: they reach its job in one variable of its environment."""
READING_BYTES_MAX: Final = 8 << 20
"""Of all items of one reading."""


class SourceFailed(Exception):
    """The source could not be read; the text says why, for who looks after it.

    `retry_after_s`: when it may be read again; None: soon, and later each time.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        status: int | None = None,
        is_wrong: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.status = status
        """Of a refusal by HTTP."""
        self.is_wrong = is_wrong
        """A database refuses the question, and will again."""


@dataclass(frozen=True)
class SourceSite:
    """What a source may do here. Setups choose the options, so whatever they name is checked."""

    paths: tuple[str, ...] = ()
    """The directories that it may read."""
    allowed: AllowedHosts = field(default_factory=partial(parse_allowed_hosts, ""))
    """The addresses that it may ask."""
    stores: AllowedHosts = field(default_factory=partial(parse_allowed_hosts, ""))
    """Those of stores of objects."""
    setting: str = "source_private_hosts"
    """Which says what `allowed` is."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """The programs that it may run, by name."""
    items_max: int = 500
    """Items of one reading."""
    timeout_s: float = 60.0


@dataclass(frozen=True)
class Item:
    """What was found. `fields` None: they could not be read, and `error` says why; such an item is
    shown, and has no job.
    """

    key: str
    """Unique in its source: an item whose key is known is the same."""
    fields: Mapping[str, Any] | None
    error: str = ""


@dataclass(frozen=True)
class Reading:
    """One reading of a source."""

    items: Sequence[Item]
    """The oldest first."""
    cursor: Mapping[str, Any] | None
    """Where the next reading begins, as JSON; None: as before."""
    more: bool = False
    """There is more to be read now."""


class Source(Protocol):
    """Reads one source. An object lives as long as its process, which may be replaced at any time:
    only the cursor lasts.
    """

    def read(
        self, options: Mapping[str, Any], cursor: Mapping[str, Any] | None, site: SourceSite
    ) -> Reading:
        """Read once. The cursor is that of a reading whose items were kept, None: from the
        beginning; items that come again are the same. Raise `SourceFailed`.
        """


SOURCE_PLUGINS: Final = PluginGroup[Callable[[], Source]]("weft.sources", "kind of source")
