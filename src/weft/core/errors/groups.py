"""Errors about groups and sets of jobs."""

from weft.core.errors.kinds import Conflict, Invalid, NotFound


class GroupNotFound(NotFound, code="API.GROUP_NOT_FOUND", sqlstate="WF103"):
    """The group does not exist."""

    def __init__(self, batch_id: int, group: int | str) -> None:
        shown = f"g{group}" if isinstance(group, int) else group
        super().__init__(
            f"group {shown} of batch b{batch_id} does not exist",
            detail="The batch has no such committed group, or you may not see it.",
            hint=f"List its groups with `weft groups b{batch_id}`.",
        )


class GroupExists(Conflict, code="API.GROUP_EXISTS", sqlstate="WF209"):
    """A group of this path, or a set of this name, already exists."""


class GroupTooDeep(Invalid, code="API.GROUP_TOO_DEEP", sqlstate="WF211"):
    """The group is below the deepest allowed level."""


class TooManyGroups(Invalid, code="API.TOO_MANY_GROUPS", sqlstate="WF212"):
    """More groups than a batch may have."""


class TooManySets(Invalid, code="API.TOO_MANY_SETS", sqlstate="WF213"):
    """More sets than a job may be in."""


class NotASet(Invalid, code="API.NOT_A_SET", sqlstate="WF214"):
    """Existing jobs can be added to a set only."""
