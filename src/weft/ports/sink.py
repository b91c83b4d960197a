"""The port `sink`: it hands messages of production lines to what their sinks name.

PostgreSQL is the record: a message that was not taken is sent again under the same name, and may
come twice. Built in: `amqp`, `command`, `kafka`, `s3`, `sql`; sinks of kind `http` are sent as
callbacks are. Loaded by the entry points `weft.sinks`; each is called with a `SinkSite`, when a
message first needs it.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

from weft.core.addresses import AllowedHosts, parse_allowed_hosts
from weft.core.text.filling import wrong_text
from weft.ports.plugins import PluginGroup
from weft.ports.senders import Answered
from weft.ports.store.worker_files import StoredFileStore
from weft.ports.transport import Connection, TransportError, allowed_connection
from weft.wire.sealed import SecretKeys

MESSAGE_CHARS_MAX: Final = 32_768
WORDS_MAX: Final = 50
MANY: Final = ("each", "products", "events")
"""What a sink has messages of, if not of jobs; one at most."""
_OPTION_CHARS_MAX: Final = 255
_ROOTS: Final = ("job", "product")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")


class Target(NamedTuple):
    """Where the messages go. `url` tells deliveries of one sink from others."""

    url: str
    options: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    command: tuple[str, ...] = ()
    timeout_s: float = 0.0


class SinkReader:
    """Reads the fields of one sink, and says what is wrong."""

    def __init__(self, document: Mapping[str, Any], wrong: Callable[[str, str], None]) -> None:
        self.document = document
        self.wrong = wrong

    def checked(self, field: str, check: Callable[[Any], str], usual: object = "") -> Any:  # noqa: ANN401 (as it is written)
        """Return a field; say what is wrong with it."""
        given = self.document.get(field, usual)
        if what := check(given):
            self.wrong(field, what)
        return given

    def command(self, field: str, given: object) -> tuple[str, ...]:
        """Return the name of a program and its arguments."""
        words = [given] if isinstance(given, str) else given
        if (
            not isinstance(words, list)
            or not 1 <= len(words) <= WORDS_MAX
            or not all(isinstance(word, str) and len(word) <= MESSAGE_CHARS_MAX for word in words)
            or not _WORD.fullmatch(words[0])
            or any("\0" in word for word in words)
        ):
            self.wrong(
                field,
                "it should be the name of a program of the setting sink_commands, or a list of "
                "that and its arguments",
            )
            return ()
        return tuple(words)

    def target(
        self, *names: str, usual: Mapping[str, str], check: Callable[[str, str], str] | None = None
    ) -> Target:
        """Return where messages go: the first option is the address. `usual`: what options are if
        nothing is said; only these are filled in, by job and product.
        """
        found = {}
        for name in names:
            given = self.document.get(name, usual.get(name))
            if name == "transport" and "url" in self.document:
                continue  # it was said what to write instead
            longest = MESSAGE_CHARS_MAX if "$" in str(given) else _OPTION_CHARS_MAX
            is_text = isinstance(given, str) and len(given) <= longest and given.isprintable()
            if not isinstance(given, str) or not is_text or not (given or usual.get(name) == ""):
                self.wrong(name, f"it should be a text of 1 to {_OPTION_CHARS_MAX} characters")
            elif "${" in given and name not in usual:
                self.wrong(name, "nothing is filled into it")
            elif what := wrong_text(given, roots=_ROOTS) or (check(name, given) if check else ""):
                self.wrong(name, what)
            found[name] = str(given)
        return Target(f"{self.document['kind']}:{found.get(names[0])}", found)


class SinkProblem(Exception):
    """Why a message cannot be sent now, in a few words without secrets."""


class Misfit(ValueError):
    """A message that its sink can never send, such as one that does not fit the schema."""


MakeMessage = Callable[[int, str, Mapping[str, Any], str | None], Awaitable[str]]
"""Takes tenant, template, what it gets, and the schema that its message fits; raises `ValueError`,
which says why there is none.
"""


class SinkMessage(NamedTuple):
    """What is sent."""

    tenant_id: int
    tenant: str
    name: str
    """The same in every try."""
    body: bytes
    target: Mapping[str, str]
    """The options of the sink, filled in for this message."""


class Sink(Protocol):
    """Hands over messages of all sinks of one kind."""

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        """Send once. `sink`: as it is stored (`weft.core.lines.line.Sink`). Whatever the receiver
        does is an answer, never an exception; `delivered` if it is kept there.
        """

    async def close(self) -> None:
        """End what is open."""


@dataclass(frozen=True)
class SinkSite:
    """What a sink may use here. Setups choose the options, so whatever they name is checked."""

    connections: Sequence[Connection]
    """That the operator has named."""
    find_store: Callable[[int, str], Awaitable[StoredFileStore | None]]
    """Finds a store of files of a tenant by its name."""
    keys: Callable[[], SecretKeys]
    """Open the secrets of stores."""
    store_buckets: str
    """Buckets that credentials of this host may open."""
    allowed: AllowedHosts
    """The addresses of stores."""
    callbacks: AllowedHosts = field(default_factory=partial(parse_allowed_hosts, ""))
    """Those of databases, by the setting `callback_private_hosts`."""

    def connection(self, message: SinkMessage, kind: str, to: str) -> Connection:
        """Return the connection of a message to an exchange or a topic. Raise `SinkProblem`."""
        name = message.target["transport"]
        try:
            return allowed_connection(self.connections, name, message.tenant, kind, "sinks", to)
        except TransportError as error:
            raise SinkProblem(str(error)) from error


SinkFactory = Callable[[SinkSite], Sink]
SINK_PLUGINS: Final = PluginGroup[SinkFactory]("weft.sinks", "kind of sink")
