"""What the loops of a driver act with outside the database: an object of one class for each part.

A loop declares the class beside itself and asks for it (`Adapters.get`); `run/driver_adapters.py`
makes the objects. What is between the two only hands the bundle on.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

Adapter = TypeVar("Adapter")


class Adapters:
    """One object per class. A driver may lack any: its loop then does what it says of that."""

    __slots__ = ("_by_class",)

    def __init__(self, *adapters: object) -> None:
        self._by_class: Mapping[type, object] = MappingProxyType(
            {type(adapter): adapter for adapter in adapters}
        )
        assert len(self._by_class) == len(adapters)

    def get(self, kind: type[Adapter]) -> Adapter | None:
        """Return the adapter of exactly this class; None: this driver has none."""
        found = self._by_class.get(kind)
        assert found is None or isinstance(found, kind)
        return found
