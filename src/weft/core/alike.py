"""Values that have fields of the same names."""

from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


def alike(kind: Callable[..., Made], *sources: object, **others: object) -> Made:
    """Return one of this kind: its fields are `others`, and those of their names that the first of
    these sources has.
    """
    found = dict(others)
    for source in sources:
        names = kind.__annotations__.keys() - found.keys()
        found |= {name: getattr(source, name) for name in names if hasattr(source, name)}
    return kind(**found)
