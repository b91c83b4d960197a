"""Values that have fields of the same names."""

import inspect
from typing import TypeVar

Made = TypeVar("Made")


def alike(kind: type[Made], *sources: object, **others: object) -> Made:
    """Return one of this kind: its fields are `others`, and those of their names that the first of
    these sources has.
    """
    found = dict(others)
    for source in sources:
        names = {name for one in kind.__mro__ for name in inspect.get_annotations(one)}
        found = {name: getattr(source, name) for name in names if hasattr(source, name)} | found
    return kind(**found)
