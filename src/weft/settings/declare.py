"""How a setting is declared, and how a value becomes one of its type.

The type in the declaration decides: `bool`, `int`, `float`, `str`, `Path`, a `Literal` of texts,
`Bytes`, or `Annotated[T, Checked(f)]`; each of them also with `| None`.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from weft.core.billing.resources import parse_bytes, parse_large_bytes
from weft.core.errors import Invalid

SectionT = TypeVar("SectionT")


class InvalidSetting(Invalid, code="CLI.INVALID_SETTING"):
    """A setting with an impossible value."""


class Checked(NamedTuple):
    """Refuse a value for which this raises `ValueError`."""

    check: Callable[[Any], object]  # takes a value of the annotated type


class _Read(NamedTuple):
    """Read a value by this function instead of the type's."""

    read: Callable[[Any], object]  # takes what a file or a variable holds


Bytes = Annotated[int, _Read(parse_bytes)]
"""A number of bytes, also written `64Mi`."""
LargeBytes = Annotated[int, _Read(parse_large_bytes)]
"""Bytes of memory: a number without a unit that is less than a MiB was meant otherwise."""


def setting(
    default: Any,  # noqa: ANN401 (one function for settings of all types)
    help_: str,
    *,
    within: tuple[float | None, float | None] = (None, None),
    is_secret: bool = False,
    in_sql: bool = False,
    option: str = "",
) -> Any:  # noqa: ANN401
    """Declare one setting.

    `within`: its least and its largest value; None: there is none. `is_secret`: neither shown nor
    passed on in an environment. `in_sql`: functions of the database read it as `SETTING_NAME`,
    from what the leading driver handed over. `option`: its name on the command line, if that is
    not the setting's.
    """
    metadata = {
        "help": help_,
        "minimum": within[0],
        "maximum": within[1],
        "is_secret": is_secret,
        "in_sql": in_sql,
        "option": option,
    }
    return field(default=default, metadata=metadata)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def section(kind: type[SectionT]) -> type[SectionT]:
    """Declare a section by its fields alone. `Settings`, which has those of all sections, makes
    the methods, once: to make them takes a third of a millisecond each, and commands wait for it.
    """
    return dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)(kind)


class Declared(NamedTuple):
    """One setting, as it was declared."""

    name: str
    default: Any  # of any type
    help: str
    kind: type
    read: Callable[[Any], object]
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    checks: tuple[Checked, ...]
    is_secret: bool
    in_sql: bool
    option: str
    """On the command line, `--slots`, whether there is one or not."""

    @property
    def limits(self) -> str:
        """What else than its type a value has to be, in words; empty: nothing."""
        if self.choices:
            return ", ".join(self.choices)
        ends = (("at least", self.minimum), ("at most", self.maximum))
        return ", ".join(f"{word} {end:,}" for word, end in ends if end is not None)

    def allowed(self, *, in_file: bool) -> str:
        """Return what a value has to be, in words; empty: any text."""
        if self.choices:
            kind = ""
        elif self.read in _QUOTED:
            kind = _QUOTED[self.read] if in_file else ""
        else:
            kind = _KINDS.get(self.read, "a size such as 64Mi")
        return ", ".join(filter(None, (kind, self.limits, self.help if self.checks else "")))

    def convert(self, value: object) -> Any:  # noqa: ANN401 (settings have several types)
        """Return the value in the setting's type. Raise `ValueError` if it is impossible."""
        converted: Any = self.read(value)
        if self.minimum is not None and not converted >= self.minimum:
            raise ValueError(f"{value!r} is below {self.minimum}")
        if self.maximum is not None and not converted <= self.maximum:
            raise ValueError(f"{value!r} is above {self.maximum}")
        if self.choices and converted not in self.choices:
            raise ValueError(f"{value!r} is not one of {', '.join(self.choices)}")
        for check in self.checks:
            check.check(converted)
        return converted

    def text_of(self, value: object) -> str:
        """Return the text that `convert` reads as this value."""
        if self.read is parse_large_bytes:
            return f"{value}B"  # few bytes without a unit are refused
        return str(value).lower() if isinstance(value, bool) else str(value)


def declared_in(section: type) -> tuple[Declared, ...]:
    """Return the settings of a section, in order. Raise `TypeError` for a type we cannot read."""
    hints = get_type_hints(section, include_extras=True)
    return tuple(
        _declared(one.name, hints[one.name], one.default, one.metadata)
        for one in fields(section)
        if "help" in one.metadata
    )


def _declared(name: str, hint: object, default: object, metadata: Mapping[str, Any]) -> Declared:
    kind, extras = _without_annotations(_without_none(hint))
    reads = [extra.read for extra in extras if isinstance(extra, _Read)]
    choices: tuple[str, ...] = ()
    if get_origin(kind) is Literal:
        choices, kind = get_args(kind), str
    if not reads and kind not in _READERS:
        raise TypeError(f"setting {name} has a type that cannot be read: {hint}")
    return Declared(
        name=name,
        default=default,
        kind=kind,
        read=reads[0] if reads else _READERS[kind],
        choices=choices,
        checks=tuple(extra for extra in extras if isinstance(extra, Checked)),
        **{**metadata, "option": metadata["option"] or "--" + name.replace("_", "-")},
    )


def _without_none(hint: object) -> object:
    """Return `T` for `T | None`."""
    if get_origin(hint) not in {Union, UnionType}:
        return hint
    kinds = [arg for arg in get_args(hint) if arg is not NoneType]
    return kinds[0] if len(kinds) == 1 else hint


def _without_annotations(hint: object) -> tuple[Any, tuple[object, ...]]:
    if get_origin(hint) is not Annotated:
        return hint, ()
    kind, *extras = get_args(hint)
    return kind, tuple(extras)


def _read_bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).lower()
    if word not in _WORDS:
        raise ValueError(f"{value!r} is neither true nor false")
    return _WORDS[word]


def _read_int(value: object) -> int:
    if isinstance(value, int | str) and not isinstance(value, bool):
        with suppress(ValueError):
            return int(str(value))
    raise ValueError(f"{value!r} is not a whole number")


def _read_float(value: object) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError):
            return float(str(value))
    raise ValueError(f"{value!r} is not a number")


def _read_text(value: object) -> str:
    if not isinstance(value, str):
        how = "write all of it as one" if isinstance(value, list) else "put it"
        raise ValueError(f"{value!r} is not a text: {how} in quotes")
    if "\0" in value:
        raise ValueError("a text cannot contain NUL")
    return value


def _read_path(value: object) -> Path:
    if not isinstance(value, str | Path):
        raise ValueError(f"{value!r} is not a path")
    if "\0" in str(value):
        raise ValueError("a path cannot contain NUL")
    try:
        return Path(value).expanduser().absolute()
    except RuntimeError:
        raise ValueError(f"{str(value)!r} names a user who does not exist") from None


_WORDS = MappingProxyType(
    {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
)
_KINDS: Mapping[Callable[[Any], object], str] = MappingProxyType(
    {
        _read_bool: "true or false",
        _read_int: "a whole number",
        _read_float: "a number",
    }
)
_QUOTED: Mapping[Callable[[Any], object], str] = MappingProxyType(
    {_read_text: "a text in quotes", _read_path: "a path in quotes"}
)
"""Kinds that need quotes in a file and nowhere else."""
_READERS: Mapping[Any, Callable[[object], object]] = MappingProxyType(
    {bool: _read_bool, int: _read_int, float: _read_float, str: _read_text, Path: _read_path}
)
