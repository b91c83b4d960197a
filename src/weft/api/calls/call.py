"""The declaration of a call: `@call("PUT /v1/licences/{l}", Right.ADMINISTER, Licence)` above its
use case, a function of services, caller, the ids of the path and what the request brings.
"""

import inspect
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType, ModuleType, NoneType
from typing import Any, Final, NamedTuple, NewType, TypeVar, get_args

from msgspec import Struct

from weft.api.calls.path_ids import PathId, path_id_of
from weft.core.access.rights import Permission, Right
from weft.ports.store import Origin
from weft.wire.documents.batches import BatchDocument, Empty

UseCase = TypeVar("UseCase", bound=Callable[..., Awaitable[Any]])
DecodeBatch = Callable[[bytes], BatchDocument]
"""Reads a batch document as a request is read."""
ServerUrl = NewType("ServerUrl", str)
"""Scheme and host at which the caller reaches this server."""
TraceId = NewType("TraceId", str)
FACTS: Final[Sequence[Any]] = (DecodeBatch, ServerUrl, TraceId)
"""Types of parameters that are told of the request, whatever it asks for."""
KEY: Final = "Idempotency-Key"
KEYED: Final = MappingProxyType({"headers": (KEY,)})
"""Marks of a call that is made once, however often it is asked for with a key."""
POSITIONS: Final = ("after", "before")
"""What a parameter is called that says where a page begins."""
_PAGE: Final = (*POSITIONS, "limit")
_NOT_DESCRIBED: Final = re.compile(r"\s*(?:Raise\s+`[^.]*\.|Args:.*)", re.DOTALL)
"""What a docstring says to callers in Python alone."""


class Cursor(NamedTuple):
    """Where a page of a list ends."""

    list_name: str
    key: str
    """Of the rows, by which they are in order; with braces, how it is made of their fields."""
    most: int | None = None
    parse: Callable[[str], Any] | None = None
    """Returns what a key stands for; raises `BadId`. None: as the type of the position says."""


@dataclass(frozen=True)
class Word:
    """What the parameter of a use case is called in the query, if Python has no such name, or if
    callers may pass it by position.
    """

    text: str
    parse: Callable[[str], Any] | None = None
    """Returns what a text stands for; raises `BadId`. None: as the type says."""


class Asked(NamedTuple):
    """A parameter of the query."""

    word: str
    kind: Any
    parse: Callable[[str], Any] | None
    path_id: PathId | None
    """As what it is read, if it has no `parse`."""
    is_placed: bool
    """Whether callers may pass it by position."""

    @property
    def is_required(self) -> bool:
        """Say whether it must be there: what has a `parse`, and cannot be None."""
        return self.parse is not None and NoneType not in get_args(self.kind)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call. What follows from its signature is found once: each request asks for it."""

    use_case: Callable[..., Awaitable[Any]]
    method: str
    path: str
    right: Right
    permission: Permission | None
    """On the batch that the path names, if it does not follow from the right."""
    answer: type[Struct] | None
    """None: it only answers with what is accepted."""
    accepted: type[Struct] | None
    """What it answers with where its work goes on."""
    is_page: bool
    """Whether it answers with a list of those."""
    cursor: Cursor | None
    """Of a list that is answered a page at a time."""
    client_name: str
    """Of the client's method; empty: it is written by hand."""
    is_public: bool
    """Whether clients have the method, too, or `Api` alone."""
    is_silent: bool
    """Whether the client's method returns nothing."""
    is_spread: bool
    """Whether the client's method takes the fields of the document, instead of the document."""
    n_placed: int
    """How many fields callers may pass by position, of those that must be there."""
    marks: Mapping[str, Any]
    """What else the route says of itself in its `opt`."""
    path_ids: Mapping[str, Any]
    """Types of ids in the path that its signature does not say, by parameters."""
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

    @cached_property
    def ids(self) -> Mapping[str, PathId]:
        """Return the ids in the path by the names of their parameters."""
        return {
            name: path_id
            for name, parameter in self.parameters.items()
            if (path_id := path_id_of(self.path_ids.get(name, parameter.annotation))) is not None
        }

    @cached_property
    def query(self) -> Mapping[str, Asked]:
        """Return the parameters of the query: those with a `Word`, and those that are by keyword
        only, without a default.
        """
        found = {}
        parameters = self.parameters.items()
        for name, one in [one for one in parameters if not self.cursor or one[0] not in _PAGE]:
            parts = get_args(one.annotation)
            by_name = one.kind == one.KEYWORD_ONLY
            word = next((part for part in parts if isinstance(part, Word)), None)
            if word is not None:
                ids = [path for part in get_args(parts[0]) if (path := path_id_of(part))]
                path_id = ids[0] if ids else None
                found[name] = Asked(word.text, parts[0], word.parse, path_id, not by_name)
            elif by_name and one.default is one.empty:
                found[name] = Asked(name.rstrip("_"), one.annotation, None, None, is_placed=False)
        return found

    @cached_property
    def position(self) -> str | None:
        """Return the parameter that says where a page begins."""
        return next((name for name in POSITIONS if name in self.parameters), None)

    @cached_property
    def document(self) -> str | None:
        """Return the parameter that is the body."""
        kinds = {name: one.annotation for name, one in self.parameters.items()}
        return next(
            (
                n
                for n, kind in kinds.items()
                if isinstance(kind, type) and issubclass(kind, Struct)
            ),
            None,
        )

    @cached_property
    def body(self) -> type[Struct] | None:
        """Return the document that it reads; None: it has no body."""
        if self.method == "GET":
            return None
        found: type[Struct] = (
            Empty if self.document is None else self.parameters[self.document].annotation
        )
        return found

    @cached_property
    def origin(self) -> str | None:
        """Return the parameter that says what identifies the request."""
        return next((name for name, p in self.parameters.items() if p.annotation is Origin), None)

    @cached_property
    def is_keyed(self) -> bool:
        """Say whether a repeat is recognised by its key."""
        is_new = self.origin is not None and self.method != "PATCH"
        return is_new or KEY in self.marks.get("headers", ())

    @cached_property
    def creates(self) -> bool:
        """Say whether it makes what it answers with."""
        return self.is_keyed and self.accepted is None and "headers" not in self.marks

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Return which of `FACTS` parameters are told, by their names."""
        kinds = {name: one.annotation for name, one in self.parameters.items()}
        return {name: kind for name, kind in kinds.items() if kind in FACTS}

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
    accepted: type[Struct] | None = None,
    cursor: Cursor | None = None,
    permission: Permission | None = None,
    client: str | None = None,
    public: bool = True,
    silent: bool = False,
    spread: bool = True,
    placed: int = 1,
    marks: Mapping[str, Any] = MappingProxyType({}),
    module: str = "",
    **path_ids: object,
) -> Callable[[UseCase], UseCase]:
    """Declare that a use case is a call: its method and path, who may call it, and the document
    that it answers with, or the items of its `page`, or what is `accepted` where its work goes on.

    `client`: the name of the client's method, if that is another, empty if it is written by
    hand; `public`: it is not for `Api` alone; `silent`: it returns nothing; `spread`: it takes the
    fields of the document, `placed` of them by position. `module`, `path_ids`: of what stands
    below calls, and knows no ids of paths: where it is declared, and the types of these.
    """
    method, _, path = route.partition(" ")
    assert answer or page or accepted, route

    def declare(use_case: UseCase) -> UseCase:
        one = Call(
            use_case=use_case,
            method=method,
            path=path,
            right=right,
            permission=permission,
            answer=answer or page,
            accepted=accepted,
            is_page=page is not None,
            cursor=cursor,
            client_name=use_case.__name__ if client is None else client,
            is_public=public,
            is_silent=silent,
            is_spread=spread,
            n_placed=placed,
            marks=marks,
            path_ids=path_ids,
        )
        _DECLARED[module or use_case.__module__].append(one)
        return use_case

    return declare


def act(route: str, answer: type[Struct], **marks: object) -> Callable[[UseCase], UseCase]:
    """Declare a call that changes how a batch goes on; clients' objects have methods for it."""
    may = Permission.EXECUTE
    return call(route, Right.WRITE, answer, permission=may, public=False, marks=marks)


def calls_of(*modules: ModuleType) -> Sequence[Call]:
    """Return the calls that modules declare, in their order."""
    return [one for module in modules for one in _DECLARED[module.__name__]]


def call_of(use_case: Callable[..., Awaitable[Any]]) -> Call:
    """Return the call that a use case is."""
    return next(one for one in _DECLARED[use_case.__module__] if one.use_case is use_case)
