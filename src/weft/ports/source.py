"""The port `source`: what yields items, each of which becomes a job of a production line.

Each source is read in a process of its own, which has no secrets in its environment and is killed
if a reading does not end in time; so a source may block, hang or crash, and harms no other. Built
in: `amqp`, `command`, `directory`, `http`, `kafka`, `s3`, `schedule`, `sql`. Loaded by the entry
points `weft.sources`.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

import msgspec

from weft.core.addresses import AllowedHosts, parse_allowed_hosts
from weft.core.bounded import Unreadable, check_depth
from weft.ports.plugins import PluginGroup
from weft.ports.store.sources import DueSource

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


_FIELD: Final = re.compile(r"\$\{item\.([\w.-]+)\}")


def item_of(given: object, options: Mapping[str, Any]) -> Item:
    """Return an item; its key is what `dedupe` says, or its field `key`."""
    if not isinstance(given, dict):
        return Item(_name_of(given), None, "it is not a JSON object")
    template = str(options.get("dedupe", "${item.key}"))
    missing = [path for path in _FIELD.findall(template) if not _is_word(value_at(given, path))]
    if missing:
        return Item(_name_of(given), None, f"it has no {missing[0]}, which its key needs")
    key = _FIELD.sub(lambda match: str(value_at(given, match[1])), template)
    return Item(key, {**given, "key": key} if "key" in given else given)


def _is_word(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _name_of(given: object) -> str:
    try:
        check_depth(given)
    except Unreadable:
        return "without key, nested too deep"
    text = json.dumps(given, sort_keys=True).encode()
    return f"without key {hashlib.sha256(text).hexdigest()[:12]}"


def value_at(value: object, path: str) -> object:
    """Return what stands in a document at names with dots between; None: nothing."""
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


S3: Final = "s3"
"""The kind that reads a store of the tenant."""
BROKERS: Final[Mapping[str, tuple[str, str]]] = {
    "amqp": ("rabbitmq", "queue"),
    "kafka": ("kafka", "topic"),
}
"""The kinds that read from a broker: the kind of their transport, and what they name there."""


class SourceRead(msgspec.Struct, frozen=True):
    """What a reading has brought."""

    found: Sequence[Mapping[str, Any]] = ()
    """`key`, `fields`, `error`; the oldest first."""
    cursor: Mapping[str, Any] | None = None
    more: bool = False
    """There is more to be read now."""
    error: str | None = None
    """Why it failed; None: it did not."""
    retry_after_s: float | None = None


class ReadsSources(Protocol):
    """The one who reads."""

    async def read(self, source: DueSource) -> SourceRead:
        """Read a source once. What is wrong with it is in the answer."""


@dataclass(frozen=True)
class SourceReader:
    """Reads sources, away from this process."""

    read: Callable[[DueSource], Awaitable[SourceRead]]
