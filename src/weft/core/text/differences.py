"""What applying a file changes that describes all things of one kind, such as queues."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

Kind = Literal["create", "change", "delete"]
Fields = Mapping[str, Any]
ChangedFields = Annotated[
    Mapping[str, tuple[Any, Any]], Meta(description="what differs: [before, after]")
]
Difference = tuple[Kind, str, ChangedFields]
"""What happens, and to which."""


def differences(
    now: Mapping[str, Fields], wanted: Mapping[str, Fields], usual: Fields
) -> Sequence[Difference]:
    """Return what has to change, by name, so that all is as wanted and nothing else is there.

    `usual`: of a new one, the fields that differ from these are named.
    """
    found: list[Difference] = [("delete", name, {}) for name in sorted(now.keys() - wanted.keys())]
    for name, after in wanted.items():
        before = now.get(name)
        known = usual if before is None else before
        fields = {
            field: (None if before is None else before.get(field), after.get(field))
            for field in dict.fromkeys([*after, *known])
            if known.get(field) != after.get(field)
        }
        if before is None:
            found.append(("create", name, fields))
        elif fields:
            found.append(("change", name, fields))
    return found
