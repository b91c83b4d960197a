"""What a door registers for the api: its routes, and what its paths have that others have not."""

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from weft.api.http.routing import Route
from weft.core.errors import Unavailable, WeftError

if TYPE_CHECKING:
    from weft.api.services import Services
    from weft.ports.topics import Topics
    from weft.settings.transports_file import JobTopicsDocument

TRACE_CHARS_MAX: Final = 100
Intaking = Coroutine[Any, Any, None]


class Asked(NamedTuple):
    """What a refusal may depend on besides the error."""

    method: str
    path: str
    options: Mapping[str, Any]
    """The `opt` of the route; empty if the request is refused before it reaches one."""


class Refusal(NamedTuple):
    """How a door says no. Headers that HTTP wants are added: `WWW-Authenticate` to a 401, `Allow`
    and `Retry-After`.
    """

    status: int
    media: str
    body: bytes


def status_of(error: WeftError, kept: Collection[int]) -> int:
    """Return the status of an error for foreign clients, which know only those that are `kept`."""
    if error.status in kept:
        return error.status
    return 503 if isinstance(error, Unavailable) else 400


@dataclass(frozen=True, kw_only=True)
class ForeignTrace:
    """Trace ids of the other system: kept beside those of weft, logged and echoed."""

    header: str
    """In which one comes and is echoed, in lower case."""
    new: Callable[[], str]
    """Makes one for a request that has none, or one that cannot be kept."""

    def of(self, headers: Mapping[str, str]) -> str:
        """Return the trace id of a request, at most `TRACE_CHARS_MAX` printable characters."""
        given = headers.get(self.header, "").strip()
        is_kept = 0 < len(given) <= TRACE_CHARS_MAX and given.isascii() and given.isprintable()
        return given if is_kept else self.new()


@dataclass(frozen=True, eq=False, kw_only=True)
class ApiDoor:
    """The part of a door that the api serves."""

    name: str
    routes: Sequence[Route]
    """Each says its right in its `opt`; see `weft.api.http.right_checks`."""
    paths: tuple[str, ...] = ()
    """Everything at or below one of these is the door's, also what has no route: what follows
    holds there.
    """
    refuse: Callable[[WeftError, Asked], Refusal] | None = None
    """How errors look there, those outside of routes too; None: as problem documents."""
    trace: ForeignTrace | None = None
    gateway_headers: str | None = None
    """How headers begin, in lower case, in which a gateway hands over who asks: there such a token
    counts before any other; None: headers of gateways are those of all paths.
    """
    takes_basic: bool = False
    """A token may come as the password of a login of the scheme `Basic`, whatever its name."""
    intake: "Callable[[Services, Topics, str, JobTopicsDocument], Intaking] | None" = None
    """Takes in jobs that records of a set of topics of this name bring, until cancelled; None:
    none come that way.
    """


class DoorPaths:
    """Finds the door of a path."""

    def __init__(self, doors: Sequence[ApiDoor]) -> None:
        found = {f"{path}/": door for door in doors for path in door.paths}
        self._doors = sorted(found.items(), key=lambda item: len(item[0]), reverse=True)
        self._paths = tuple(found)

    def door_of(self, path: str) -> ApiDoor | None:
        """Return the door to which a path belongs; of two the one whose path is longer."""
        whole = f"{path}/"
        if not whole.startswith(self._paths):
            return None
        return next(door for own, door in self._doors if whole.startswith(own))
