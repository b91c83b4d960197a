"""Calls of one function of the database that are declared: a signature, a docstring, no body. A
port has them already: `leave = calls(nothing)(WorkerStore.leave)`.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from operator import attrgetter, itemgetter
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, cast, get_args, get_origin

import asyncpg

from weft.core.access.rights import UserRole
from weft.ports.store import Caller, Row

Method = TypeVar("Method", bound=Callable[..., Awaitable[Any]])
Made_co = TypeVar("Made_co", covariant=True)
Answer = Callable[..., Any]
"""Makes what a method returns from the rows of the function, and from arguments that it names."""
Made = Callable[..., object]
"""Makes what is sent from the arguments that it names, `self` among them."""
Sent = str | tuple[str, Made] | Made | None


def nothing(_: Sequence[asyncpg.Record]) -> None:
    """Leave the rows alone."""


def value(rows: Sequence[asyncpg.Record]) -> Any:  # noqa: ANN401 (what the signature says)
    """Return the only value; None: there is no row."""
    return rows[0][0] if rows else None


def truth(rows: Sequence[asyncpg.Record]) -> bool:
    """Return whether the only value is true."""
    return bool(value(rows))


def number(rows: Sequence[asyncpg.Record]) -> int:
    """Return the only value, which is there."""
    return int(value(rows))


def seconds(rows: Sequence[asyncpg.Record]) -> float | None:
    """Return the only value, an interval, in seconds."""
    distance = value(rows)
    return None if distance is None else float(distance.total_seconds())


def documents(rows: Sequence[asyncpg.Record]) -> list[Row]:
    """Return the first value of each row."""
    return [row[0] for row in rows]


def records(rows: Sequence[asyncpg.Record]) -> list[Row]:
    """Return each row by the names of its columns."""
    return [dict(row) for row in rows]


def pairs(rows: Sequence[asyncpg.Record]) -> list[tuple[Any, ...]]:
    """Return each row without the names of its columns."""
    return [tuple(row) for row in rows]


def filled(kind: Callable[..., Made_co], row: asyncpg.Record, **others: object) -> Made_co:
    """Return one of these from the columns that are called as its fields, and from `others`."""
    names = kind.__annotations__.keys() - others.keys()
    return kind(**{name: row[name] for name in names}, **others)


def owner_in(row: asyncpg.Record) -> Caller:
    """Return the user whom a row names, for whom something is done that they do not wait for."""
    role = UserRole(row["role"])
    return Caller(row["tenant_id"], row["user_id"], row["user_name"], role, in_turn=False)


def column(parameter: str, field: str | int) -> Made:
    """Return what makes a list of this attribute, or item, of each object in a parameter."""
    part = attrgetter(field) if isinstance(field, str) else itemgetter(field)
    return _of(parameter, lambda objects: [part(one) for one in objects])


def parts(parameter: str, *names: str, **renamed: str) -> dict[str, Made]:
    """Return what sends attributes of a parameter, under their names or others."""
    fields = {**dict(zip(names, names, strict=True)), **renamed}
    return {name: _of(parameter, attrgetter(field)) for name, field in fields.items()}


def _of(parameter: str, make: Callable[[Any], Any]) -> Made:
    """Return the same function of a parameter that is called so."""

    def made(given: Any) -> Any:  # noqa: ANN401 (of any type)
        return make(given)

    made.__signature__ = Signature(  # type: ignore[attr-defined]  # `inspect` looks for it
        [Parameter(parameter, Parameter.POSITIONAL_OR_KEYWORD)]
    )
    return made


def _number_of(group: int | str) -> int | None:
    return None if isinstance(group, str) else group


def _path_of(group: int | str) -> str | None:
    return group if isinstance(group, str) else None


GROUP: Final[Mapping[str, Made]] = {"group_id": _number_of, "path": _path_of}
"""What is sent of a group, which is known by its number or its path."""


KEYED: Final = parts("origin", "digest", idempotency_key="key")
"""What is sent of a request, by which a repeat is known."""
TRACED: Final = {**KEYED, **parts("origin", "trace_id")}


def actor(caller: Caller) -> str:
    """Return who is named in histories."""
    return f"user {caller.user_name}"


def user_id(caller: Caller) -> int:
    """Return whose call it is."""
    return caller.user_id


def tenant_id(caller: Caller) -> int:
    """Return in which tenant the call counts, where the function says it by itself."""
    return caller.tenant_id


def calls(
    answer: Answer, function: str | None = None, /, **sent: Sent
) -> Callable[[Method], Method]:
    """Make the body of a method: it calls the function of its name, or of this one.

    `sent`: the name of the function's parameter for one of the method's, if it is another one,
    perhaps with what makes its value; None if it is not sent. Or what makes the value of a
    parameter of the function from arguments of the method, by their names; these, but for the
    caller, are not sent by themselves.
    """

    def declared(method: Method) -> Method:
        name, parameters = method.__name__, [*signature(method).parameters.values()]
        makers = {key: one for key, one in sent.items() if isinstance(one, tuple) or callable(one)}
        plan = _plan(parameters[1:], sent)
        values = ", ".join(f"{key}={expression}" for key, expression in plan.items())
        more = "".join(f", {one}={one}" for one in [*signature(answer).parameters][1:])
        text = (
            f"async def {name}({_head(parameters)}):\n"
            f"    rows = await self._database.call({function or name!r}, {values})\n"
            f"    return _answer(rows{more})\n"
        )
        known: dict[str, Any] = {
            "_answer": answer,
            "_default": {parameter.name: parameter.default for parameter in parameters},
            "_make": {
                key: one[1] if isinstance(one, tuple) else one for key, one in makers.items()
            },
        }
        exec(compile(text, f"<declared call {name}>", "exec"), known)  # noqa: S102 (names of our own)
        call: Any = wraps(method)(known[name])
        call.declared = function or name, [*plan]
        return cast("Method", call)

    return declared


def _head(parameters: Sequence[Parameter]) -> str:
    """Return the parameters as they are written, with their defaults."""
    shown, is_keyword = [], False
    for one in parameters:
        if one.kind is Parameter.KEYWORD_ONLY and not is_keyword:
            shown.append("*")
            is_keyword = True
        has_default = one.default is not Parameter.empty
        shown.append(f"{one.name}=_default[{one.name!r}]" if has_default else one.name)
    return ", ".join(shown)


def _plan(parameters: Sequence[Parameter], sent: Mapping[str, Sent]) -> dict[str, str]:
    """Return what is sent: names of the function's parameters, and expressions of their values."""
    made = {key: [*signature(one).parameters] for key, one in sent.items() if callable(one)}
    used = {name for names in made.values() for name in names} - {"caller", "self"}
    if unknown := used - {parameter.name for parameter in parameters}:
        raise TypeError(unknown)
    plan = {}
    for parameter in parameters:
        name = sent.get(parameter.name, parameter.name)
        if isinstance(name, tuple):
            plan[name[0]] = f"_make[{parameter.name!r}]({parameter.name})"
        elif isinstance(name, str) and parameter.name not in used:
            plan[name] = _plain(parameter)
    return plan | {key: f"_make[{key!r}]({', '.join(names)})" for key, names in made.items()}


def _plain(parameter: Parameter) -> str:
    """Return an expression that makes lists of sequences, and dictionaries of mappings."""
    name, of_type = parameter.name, parameter.annotation
    if get_origin(of_type) is Annotated:
        of_type = get_args(of_type)[0]
    types = get_args(of_type) if isinstance(of_type, UnionType) else (of_type,)
    origins: set[Any] = {*map(get_origin, types)}
    plain = "dict" if Mapping in origins else "list" if origins & {Sequence, Collection} else ""
    return f"None if {name} is None else {plain}({name})" if plain else name
