"""Errors about updates of batches, and their jobs in bunches."""

from weft.core.errors.kinds import (
    Conflict,
    Invalid,
    NotFound,
    TooLarge,
)


class TooManyJobs(TooLarge, code="API.TOO_MANY_JOBS"):
    """More jobs or groups in one request than the limit."""


class TooManyParents(TooLarge, code="API.TOO_MANY_PARENTS"):
    """More pairs of a job and its parent in one request than the limit."""


class UpdateNotFound(NotFound, code="API.UPDATE_NOT_FOUND", sqlstate="WF104"):
    """The batch has no such update."""


class UpdateIncomplete(Invalid, code="API.UPDATE_INCOMPLETE", sqlstate="WF202"):
    """The update is incomplete and cannot be committed."""


class UpdateCommitted(Conflict, code="API.UPDATE_COMMITTED", sqlstate="WF203"):
    """The update is committed and cannot change."""


class OutsideUpdate(Invalid, code="API.OUTSIDE_UPDATE", sqlstate="WF207"):
    """Jobs or groups outside the numbers that their update reserved."""


class BunchDiffers(Conflict, code="API.BUNCH_DIFFERS", sqlstate="WF215"):
    """These numbers of the update were already filled with other jobs or groups."""


class BunchOverlap(Conflict, code="API.BUNCH_OVERLAP", sqlstate="WF208"):
    """A job of the update was sent twice, in different bunches."""
