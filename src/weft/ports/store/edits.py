"""What the api asks about changes that people make of what is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from weft.ports.store.submitted import Caller, Row

Patch = Mapping[str, Any]
"""A JSON merge patch (RFC 7396) with some of `name` and `attributes`; null removes."""


@dataclass(frozen=True)
class EditLimits:
    """Settings of the same names."""

    attributes_max: int
    rename_groups_max: int


class EditStore(Protocol):
    """Edits. Each is dated, with who made it."""

    async def edit_group(
        self, caller: Caller, batch_id: int, group_id: int, *, patch: Patch, limits: EditLimits
    ) -> bool:
        """Change name and attributes of a group; of group 0: of its batch.

        Return whether anything changed; a repeat changes nothing. Raise `GroupExists` for a name
        that is taken, `InvalidValue` for too many attributes, `RenameTooLarge` if too many paths
        would change.
        """

    async def edit_job(
        self, caller: Caller, batch_id: int, job_id: int, *, patch: Patch, limits: EditLimits
    ) -> bool:
        """Change name and attributes of a job; return whether anything changed.

        Raise `JobNotFound`, `InvalidValue` for too many attributes.
        """

    async def group_history(
        self, caller: Caller, batch_id: int, group_id: int, *, before: int | None, limit: int
    ) -> Sequence[Row]:
        """Return what people changed of a group, newest first, with numbers below `before`."""
