"""What an extension of any kind registers, beside the plug-ins of ports.

Each part is read by the role that uses it, and loaded when it does: the package of an extension
imports nothing of its own, so that a command or a role that does not use it pays nothing.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from operator import attrgetter
from typing import Any, Final, NamedTuple

BUILT_IN: Final = (
    "apps",
    "brokers",
    "each",
    "engines.kubernetes",
    "engines.openstack",
    "engines.ssh",
    "exec",
    "forecast",
    "lines",
    "link",
    "pages",
    "siege",
    "simulator",
    "top",
    "waits",
)
"""The extensions that register more than plug-ins, below `weft/extensions/`: one entry each."""


class Command(NamedTuple):
    """A command of `weft`."""

    target: str
    """`module:function`, imported when the command runs."""
    sentence: str
    """In the list of commands."""


class WorkersOutside(NamedTuple):
    """How workers without a database are served; each a `module:function`."""

    served: str
    """Opens their other end, beside an api: a `ServedLink` (`ports/worker_link.py`)."""
    source: str
    """Opens what one of them works for: a `WorkerSource` (`run/worker_source.py`)."""
    examined: str
    """Yields what `weft doctor --connect` finds, from `Settings`."""
    joined: str
    """Makes the settings of one that was invited, in its home, from the word of the invitation."""


class Extension(NamedTuple):
    """The parts of an extension."""

    commands: Mapping[str, Command] = {}
    """Of the command line, by name."""
    checks: str = ""
    """`module:function` of what `weft doctor` asks: from `Settings` to `Finding`s."""
    api: str = ""
    """`module:name` of an `ApiPart` (`api/http/parts.py`): routes, and what they need."""
    beside_api: str = ""
    """`module:class` of what runs beside each api: made of its services, notices and a decoder."""
    evaluates: str = ""
    """`module:function` that is asked about what tenants wrote, loaded before."""
    kinds: str = ""
    """Its package, if there are kinds of lines in its `sources`, `sinks` and `lookups`."""
    loops: str = ""
    """`module:name` of the loops of the driver."""
    outside: WorkersOutside | None = None
    """For the one that brings workers outside."""


def built_in() -> Iterator[Extension]:
    """Yield what weft brings."""
    for name in BUILT_IN:
        yield import_module(f"weft.extensions.{name}").EXTENSION


def parts(name: str) -> Iterator[Any]:
    """Yield a part, by its name, of each built-in extension that has one."""
    targets = (getattr(extension, name) for extension in built_in())
    return (loaded(target) for target in targets if target)


def workers_outside() -> WorkersOutside:
    """Return who serves them, and how they work."""
    return next(extension.outside for extension in built_in() if extension.outside)


def loaded(target: str) -> Any:  # noqa: ANN401 (whatever stands there)
    """Return what a `module:name` names."""
    module, _, name = target.partition(":")
    return attrgetter(name)(import_module(module))
