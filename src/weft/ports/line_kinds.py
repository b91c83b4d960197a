"""Kinds of sources, sinks and look-ups: each is a file or folder in an extension, and its `KIND`
says what the file of a line may tell it. Those that packages bring may be told anything.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final, NamedTuple, TypeVar

from weft.core.deliveries.callback_url import parse_callback_url, without_login, wrong_address
from weft.core.deliveries.credentials import SECRET
from weft.core.lines.line import Sink
from weft.core.text.durations import duration_of
from weft.ports.extension import installed
from weft.ports.sink import SinkReader, Target
from weft.ports.source import SourceSite

CHARS_MAX: Final = 2000
Options = Mapping[str, Any]
Mistakes = Mapping[str, str]
"""What is wrong, by field; empty: nothing."""
Kind = TypeVar("Kind", "SourceKind", "SinkKind", "LookUpKind")


def is_fine(*_: object) -> Mistakes:
    """Say that nothing is wrong."""
    return {}


class Option(NamedTuple):
    """An option of a kind."""

    check: Callable[[object], str]
    """Says what is wrong with a value; empty: nothing."""
    needed: bool = False
    secret: bool = False
    """A secret may stand in it. The others are seen in command lines, logs and answers."""


@dataclass(frozen=True)
class SourceKind:
    """What a kind of source may be told."""

    options: Mapping[str, Option]
    together: Callable[[Options], Mistakes] = is_fine
    """Looks at options that need each other."""
    reach: Callable[[SourceSite, Options], Mistakes] = is_fine
    """Looks at what it may do here."""


@dataclass(frozen=True)
class SinkKind:
    """What a kind of sink may be told."""

    fields: tuple[str, ...]
    target: Callable[[SinkReader], Target]
    secrets: tuple[str, ...] = ()
    """Fields in which a secret may stand."""
    codes: str | None = None
    """What rejects a message if nothing else is said; None: such a sink has no codes."""
    usual: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    """Returns a table as it is written usually."""
    reach: Callable[[SourceSite, Sink], Mistakes] = is_fine
    position: int = 9
    """Among those that a message lists, the most usual first."""


@dataclass(frozen=True)
class LookUpKind:
    """What a kind of look-up may be told."""

    fields: tuple[str, ...]
    check: Callable[[Options, bool], Mistakes]
    """Looks at all of them, and whether they name secrets."""
    address: str = ""
    """The field in which values are quoted."""


def kinds_of(kind: type[Kind], folder: str) -> Mapping[str, Kind]:
    """Return the kinds that extensions bring in their folders of this name, by name."""
    packages = [import_module(one.kinds) for one in installed() if one.kinds]
    modules = {
        module.name: import_module(f"{package.__name__}.{folder}.{module.name}")
        for package in packages
        for module in iter_modules([f"{package.__path__[0]}/{folder}"])
    }
    kinds = {name: getattr(module, "KIND", None) for name, module in modules.items()}
    return {name: value for name, value in kinds.items() if isinstance(value, kind)}


def wrong_text(given: object) -> str:
    """Say what is wrong with a text; empty: nothing."""
    fine = isinstance(given, str) and 1 <= len(given) <= CHARS_MAX and given.isprintable()
    return "" if fine else f"it should be a text of 1 to {CHARS_MAX} printable characters"


def wrong_time(given: object) -> str:
    """Say what is wrong with a time; empty: nothing."""
    return "" if duration_of(given) is not None else 'it should be a time such as "30s"'


def wrong_host(host: str, site: SourceSite) -> Mistakes:
    """Say why the host of `url` is out of reach."""
    return {"url": wrong_address(host, site.allowed, site.setting) or ""}


def host_of(url: str) -> str:
    """Return the host of an address, which may have secrets."""
    return parse_callback_url(without_login(SECRET.sub("x", url))[0]).host


def wrong_program(site: SourceSite, setting: str, name: str) -> str:
    """Say that there is no such program."""
    return (
        "" if name in site.commands else f"there is no command {name!r} in the setting {setting}"
    )


TEXT: Final = Option(wrong_text)
NEEDED_TEXT: Final = Option(wrong_text, needed=True)
