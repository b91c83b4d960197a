"""The types of what the client's calls answer: a class for each document that the api replies
with, for editors and type checkers. A part of `generate_client.py`.
"""

import inspect
import keyword
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

import msgspec

from weft.api.calls.call import Call
from weft.client.answer import MONEY, Answer, is_date

SENTENCE = "What the api answers, as types for editors and type checkers."
RUN_TIME = "When a program runs, each of them is an `Answer`, whose attributes are of these types."
HEAD = """from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from weft.client.answer import Answer


"""
ALIASES = {
    "PoolFlavour": "Flavour",
    "PoolPlan": "Pool",
    "QueueChange": "QueueDifference",
    "Times": "PhaseTimes",
}
"""Names by which programs know answers that are the core's own types."""
INDENT = " " * 4
WIDTH = 99
Struct = type[msgspec.Struct]


class AnswerTypes:
    """Stands for `answers.py`, which may have to be written first: its classes are answers."""

    def __getattr__(self, name: str) -> type[Answer]:
        return Answer


def kind_of_answer(call: Call) -> str:
    """Return the class of an answer, or of each item of it."""
    if call.answer is None:
        return "Answer"
    fields = get_type_hints(call.answer)
    item = get_args(fields["items"])[0] if [*fields] == ["items"] else call.answer
    return f'"answers.{item.__name__}"'


def answers_module(answers: Iterable[Struct], made: str) -> str:
    """Return the text of the module: the answers and all that they consist of, by their names."""
    found: dict[str, Struct] = {}
    for one in answers:
        _collect(one, found)
    ordered = sorted(found.values(), key=lambda one: (len(_bases(one)), one.__name__))
    classes = "\n\n".join(map(_class, ordered))
    aliases = "\n".join(f"{name} = {known}" for name, known in ALIASES.items())
    return f'"""{SENTENCE}\n\n{RUN_TIME}\n{made}\n"""\n\n{HEAD}{classes}\n\n{aliases}\n'


def _collect(struct: Struct, found: dict[str, Struct]) -> None:
    if found.setdefault(struct.__name__, struct) is not struct:
        raise ValueError(f"two answers are named {struct.__name__}")
    parts = [one for hint in get_type_hints(struct).values() for one in _structs(hint)]
    for one in (*_bases(struct), *parts):
        if found.get(one.__name__) is not one:
            _collect(one, found)


def _bases(struct: Struct) -> Sequence[Struct]:
    """Return the answers that have all fields of this one but some, the nearest first. What has
    its name is no other answer: the core's part of it.
    """
    return [
        one
        for one in struct.__mro__[1:]
        if issubclass(one, msgspec.Struct)
        and one is not msgspec.Struct
        and one.__name__[0] != "_"
        and one.__name__ != struct.__name__
    ]


def _structs(hint: Any) -> Iterator[Struct]:  # noqa: ANN401 (any annotation)
    """Yield the structs that a type has."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for one in get_args(hint):
        yield from _structs(one)


def _class(struct: Struct) -> str:
    """Return the class of an answer. A field that may be missing has no other type."""
    said = " ".join((inspect.getdoc(struct) or "").split())
    bases = _bases(struct)
    base, known = (bases[0].__name__, bases[0].__struct_fields__) if bases else ("Answer", ())
    lines = [f"class {struct.__name__}({base}):", *_docstring(said), ""]
    hints = get_type_hints(struct, include_extras=True)
    for one in msgspec.structs.fields(struct):
        name, hint = one.encode_name, hints[one.name]
        if one.name not in known and _is_attribute(name):
            lines.append(f"{INDENT}{name}: {_kind(hint, name)}")
            lines += _docstring(_description(hint))
    return "\n".join(lines) + "\n"


def _is_attribute(name: str) -> bool:
    """Say whether a field can be read as one: a mapping has methods of some names."""
    return name.isidentifier() and not keyword.iskeyword(name) and not hasattr(dict, name)


def _docstring(said: str) -> Sequence[str]:
    if not said:
        return []
    said = said.replace("\\", "\\\\")
    lines = textwrap.wrap(f'"""{said}', WIDTH - len(INDENT) - 3, break_long_words=False)
    end = [f'{lines[-1]}"""'] if len(lines) == 1 else [lines[-1], '"""']
    return [INDENT + line for line in [*lines[:-1], *end]]


def _description(hint: Any) -> str:  # noqa: ANN401 (any annotation)
    metas = get_args(hint) if get_origin(hint) is Annotated else ()
    said = [one.description for one in metas if isinstance(one, msgspec.Meta)]
    return " ".join(next((one for one in reversed(said) if one), "").split())


def _kind(hint: Any, name: str) -> str:  # noqa: ANN401 (any annotation)
    """Return the type of an attribute as `Answer` reads it: by name, what is money or a date."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated or isinstance(hint, NewType):
        return _kind(parts[0] if parts else hint.__supertype__, name)
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, parts))}]"
    if origin in {Union, UnionType}:
        kinds = [_kind(one, name) for one in parts if one is not msgspec.UnsetType]
        return "Any" if "Any" in kinds else " | ".join(dict.fromkeys(kinds))
    if origin in {list, tuple, Sequence}:
        return f"list[{_kind(parts[0], name)}]"
    if origin in {dict, Mapping} or hint is dict:
        return "Answer"
    if hint is NoneType:
        return "None"
    if not isinstance(hint, type) or hint is object:
        return "Any"
    if issubclass(hint, Enum):
        return "str"
    return _plain(hint, name)


def _plain(kind: type, name: str) -> str:
    if name in MONEY and issubclass(kind, (str, int, float)):
        return Decimal.__name__
    if issubclass(kind, (datetime, date)) or (kind is str and is_date(name)):
        return datetime.__name__ if is_date(name) else "str"
    return kind.__name__
