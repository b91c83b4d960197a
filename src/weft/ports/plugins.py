"""What installed packages bring: each port that they may implement has a group of entry points.

Built-in plug-ins are found in the same way. A port that gets such a group adds one line, as
`RUNNER_PLUGINS` in `ports/runner.py`.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from stat import S_ISDIR
from typing import Any, Generic, NamedTuple, TypeVar

from weft.core.errors import Invalid, missing_package

Plugin = TypeVar("Plugin")


class PluginNotInstalled(Invalid, code="WEFT.PLUGIN_NOT_INSTALLED"):
    """No installed package brings a plug-in of this name."""


class PluginGroup(NamedTuple, Generic[Plugin]):
    """The plug-ins of one port. A package that comes while a program runs is found, too."""

    group: str
    """Of the entry points."""
    noun: str
    """What people call one of them."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all, in order, without loading any."""
        return tuple(sorted(self._entries()))

    def find(self, name: str) -> Plugin | None:
        """Load a plug-in; None: no package brings this name. Raise `PackageMissing`."""
        target = self._entries().get(name)
        return None if target is None else _load(target)

    def load(self, name: str) -> Plugin:
        """Load one. Raise `PluginNotInstalled` or `PackageMissing`."""
        found = self.find(name)
        if found is None:
            raise PluginNotInstalled(
                f"{self.noun} {name!r} is not installed",
                detail=f"Installed are: {', '.join(self.names()) or 'none'}.",
                hint=f"Install the package that brings it, or name one of these. Packages bring "
                f"a {self.noun} by an entry point in `{self.group}`.",
            )
        return found

    def load_all(self) -> dict[str, Plugin]:
        """Load all, by name."""
        return {name: _load(target) for name, target in self._entries().items()}

    def load_sound(self) -> tuple[dict[str, Plugin], dict[str, Exception]]:
        """Load those that can be loaded, and say why each of the others cannot, by name: for who
        must not fail for a package that nobody has asked for.
        """
        sound: dict[str, Plugin] = {}
        broken: dict[str, Exception] = {}
        for name, target in sorted(self._entries().items()):
            try:
                sound[name] = _load(target)
            except Exception as error:  # noqa: BLE001 (whatever a module does when it is imported)
                broken[name] = error
        return sound, broken

    def _entries(self) -> Mapping[str, str]:
        """Return where each stands, as `module:name`; of two of a name the first on the path."""
        found: dict[str, str] = {}
        for text in _declarations(*_folders()):
            section = f"\n{text}".partition(f"\n[{self.group}]\n")[2].partition("\n[")[0]
            for line in section.splitlines():
                name, sign, target = line.partition("=")
                if sign and not name.startswith("#"):
                    found.setdefault(name.strip(), target.partition("[")[0].strip())
        return found


def loaded(target: str) -> Any:  # noqa: ANN401 (whatever stands there)
    """Return what a `module:name` names."""
    module, _, name = target.partition(":")
    return attrgetter(name)(import_module(module))


def _load(target: str) -> Any:  # noqa: ANN401 (whatever stands there)
    try:
        return loaded(target)
    except ModuleNotFoundError as error:
        raise missing_package(error) from error


def _folders() -> Iterator[tuple[Path, int]]:
    """Yield the folders of packages, each with when something came or went there."""
    for folder in map(Path, sys.path):
        with suppress(OSError):  # there is none, or it is not ours to look at
            found = folder.stat()
            if S_ISDIR(found.st_mode):
                yield folder, found.st_mtime_ns


@lru_cache(maxsize=1)
def _declarations(*folders: tuple[Path, int]) -> Sequence[str]:
    """Return the entry points of each installed package as text. `importlib.metadata` finds the
    same, but takes 30 ms to import. `folders`: each with when something came or went there.
    """
    packages, texts = set(), []
    for folder, _ in folders:
        with suppress(OSError):  # it is not ours to read
            for name in os.listdir(folder):  # noqa: PTH208 (texts suffice)
                package = name.partition("-")[0].lower().replace(".", "_")
                if name.endswith((".dist-info", ".egg-info")) and package not in packages:
                    packages.add(package)
                    file = folder / name / "entry_points.txt"
                    text = file.read_text("utf-8") if file.is_file() else ""
                    texts.append("\n".join(map(str.strip, text.splitlines())))
    return texts
