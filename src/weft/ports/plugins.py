"""What installed packages bring: each port that they may implement has a group of entry points.

Built-in plug-ins are found in the same way. A port that gets such a group adds one line, as
`RUNNER_PLUGINS` in `ports/runner.py`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from weft.core.errors import Invalid, missing_package

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

Plugin = TypeVar("Plugin")


class PluginNotInstalled(Invalid, code="WEFT.PLUGIN_NOT_INSTALLED"):
    """No installed package brings a plug-in of this name."""


@dataclass(frozen=True)
class PluginGroup(Generic[Plugin]):
    """The plug-ins of one port. Nothing is remembered: a look costs some milliseconds."""

    group: str
    """Of the entry points."""
    noun: str
    """What people call one of them."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all, in order, without loading any."""
        return tuple(sorted(self._entries().names))

    def find(self, name: str) -> Plugin | None:
        """Load a plug-in; None: no package brings this name. Raise `PackageMissing`."""
        for entry in self._entries().select(name=name):
            return self._load(entry)
        return None

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
        return {entry.name: self._load(entry) for entry in self._entries()}

    def _load(self, entry: "EntryPoint") -> Plugin:
        try:
            loaded: Plugin = entry.load()
        except ModuleNotFoundError as error:
            raise missing_package(error) from error
        return loaded

    def _entries(self) -> "EntryPoints":
        from importlib.metadata import entry_points  # noqa: PLC0415 (30 ms)

        return entry_points(group=self.group)
