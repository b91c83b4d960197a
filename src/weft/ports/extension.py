"""What a package registers, beside the plug-ins of ports: an `EXTENSION`, by an entry point of the
group `weft.extensions`.

Each part is read by the role that uses it, and loaded when it does: the `__init__.py` of a package
imports nothing of its own, so that a command or a role that does not use it pays nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from weft.core.errors import PackageMissing
from weft.ports.plugins import PluginGroup, loaded


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
    sql: str = ""
    """Its package, if there is a folder `sql` of what it has in the database."""
    outside: WorkersOutside | None = None
    """For the one that brings workers outside."""


EXTENSIONS: Final = PluginGroup[Extension]("weft.extensions", "extension")
"""What packages register that are installed here; the house knows none by its name."""


@cache
def installed() -> Sequence[Extension]:
    """Return the extensions, in the order of their names."""
    return tuple(extension for _, extension in sorted(EXTENSIONS.load_all().items()))


def parts(name: str) -> Iterator[Any]:
    """Yield a part, by its name, of each installed extension that has one."""
    targets = (getattr(extension, name) for extension in installed())
    return (loaded(target) for target in targets if target)


def workers_outside() -> WorkersOutside:
    """Return who serves them, and how they work. Raise `PackageMissing`."""
    found = (extension.outside for extension in installed() if extension.outside)
    outside = next(found, None)
    if outside is None:
        raise PackageMissing("weft_link")
    return outside
