"""The modules of a package, each of which says something of the same kind."""

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def modules_of(package: ModuleType) -> Sequence[ModuleType]:
    """Return the modules of a package, in the order of their names."""
    return [
        import_module(f"{package.__name__}.{one.name}") for one in iter_modules(package.__path__)
    ]
