"""The declaration of a call: `@call("PUT /v1/licences/{l}", Right.ADMINISTER, Licence)` above its
use case, a function of services, caller, the ids of the path and what the request brings.
"""

import inspect
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import Any, Final, NamedTuple, TypeVar, get_args

from msgspec import Struct

from weft.api.calls.path_ids import PathId
from weft.core.access.rights import Right
from weft.submission.services import Origin
from weft.wire.documents.batches import Empty

UseCase = TypeVar("UseCase", bound=Callable[..., Awaitable[Any]])
_NOT_DESCRIBED: Final = re.compile(r"\s*(?:Raise\s+`[^.]*\.|Args:.*)", re.DOTALL)
"""What a docstring says to callers in Python alone."""


class Cursor(NamedTuple):
    """Where a page of a list ends."""

    list_name: str
    key: str
    """Of the rows, by which they are in order."""
    most: int | None = None


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call."""

    use_case: Callable[..., Awaitable[Any]]
    method: str
    path: str
    right: Right
    answer: type[Struct]
    is_page: bool
    """Whether it answers with a list of those."""
    cursor: Cursor | None
    """Of a list that is answered a page at a time."""
    client_name: str
    """Of the client's method; empty: it is written by hand."""
    is_silent: bool
    """Whether the client's method returns nothing."""
    is_spread: bool
    """Whether the client's method takes the fields of the document, instead of the document."""
    marks: Mapping[str, Any]
    """What else the route says of itself in its `opt`."""
    parameters: Mapping[str, inspect.Parameter] = field(init=False)
    """Of the use case, but for services and caller."""

    def __post_init__(self) -> None:
        parameters = dict([*inspect.signature(self.use_case).parameters.items()][2:])
        object.__setattr__(self, "parameters", parameters)
        named = {one.name for one in self.ids.values()}
        assert named == set(re.findall(r"{(\w+)}", self.path)), self.name

    @property
    def name(self) -> str:
        """Return method and path."""
        return f"{self.method} {self.path}"

    @property
    def operation(self) -> str:
        """Return the name that the description and the trail have for it."""
        return str(self.use_case.__name__)

    @property
    def ids(self) -> Mapping[str, PathId]:
        """Return the ids in the path by the names of their parameters."""
        return {
            name: one
            for name, parameter in self.parameters.items()
            for one in get_args(parameter.annotation)
            if isinstance(one, PathId)
        }

    @property
    def query(self) -> Mapping[str, Any]:
        """Return the types of the parameters of the query, which are by keyword only, without
        a default.
        """
        return {
            name: parameter.annotation
            for name, parameter in self.parameters.items()
            if parameter.kind == parameter.KEYWORD_ONLY and parameter.default is parameter.empty
        }

    @property
    def body(self) -> type[Struct] | None:
        """Return the document that it reads; None: it has no body."""
        if self.method == "GET":
            return None
        document = self.parameters.get("document")
        return Empty if document is None else document.annotation

    @property
    def creates(self) -> bool:
        """Say whether a repeat is recognised by its key."""
        return any(one.annotation is Origin for one in self.parameters.values())

    @property
    def description(self) -> str:
        """Return what is said of it, whoever calls it."""
        return _NOT_DESCRIBED.sub("", inspect.getdoc(self.use_case) or "")


_DECLARED: Final[dict[str, list[Call]]] = defaultdict(list)
"""By the module of the use case."""


def call(
    route: str,
    right: Right,
    answer: type[Struct] | None = None,
    *,
    page: type[Struct] | None = None,
    cursor: Cursor | None = None,
    client: str | None = None,
    silent: bool = False,
    spread: bool = True,
    marks: Mapping[str, Any] = MappingProxyType({}),
) -> Callable[[UseCase], UseCase]:
    """Declare that a use case is a call: its method and path, who may call it, and the document
    that it answers with, or the items of its `page`.

    `client`: the name of the client's method, if that is another, empty if it is written by
    hand; `silent`: it returns nothing; `spread`: it takes the fields of the document.
    """
    method, _, path = route.partition(" ")
    answered = answer or page
    assert answered is not None, route

    def declare(use_case: UseCase) -> UseCase:
        one = Call(
            use_case=use_case, method=method, path=path, right=right, answer=answered,
            is_page=page is not None, cursor=cursor, is_silent=silent, is_spread=spread,
            client_name=use_case.__name__ if client is None else client, marks=marks,
        )  # fmt: skip
        _DECLARED[use_case.__module__].append(one)
        return use_case

    return declare


def calls_of(module: ModuleType) -> Sequence[Call]:
    """Return the calls that a module declares, in its order."""
    return _DECLARED[module.__name__]
