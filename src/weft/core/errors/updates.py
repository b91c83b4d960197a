"""Errors about updates: jobs that are being submitted."""

from weft.core.errors.kinds import Conflict, Invalid, NotFound


class UpdateNotFound(NotFound):
    """The batch has no such update."""

    code = "API.UPDATE_NOT_FOUND"
    sqlstate = "WF104"


class UpdateIncomplete(Invalid):
    """The update is incomplete and cannot be committed."""

    code = "API.UPDATE_INCOMPLETE"
    sqlstate = "WF202"


class UpdateCommitted(Conflict):
    """The update is committed and cannot change."""

    code = "API.UPDATE_COMMITTED"
    sqlstate = "WF203"


class OutsideUpdate(Invalid):
    """Jobs or groups outside the numbers that their update reserved."""

    code = "API.OUTSIDE_UPDATE"
    sqlstate = "WF207"


class BunchDiffers(Conflict):
    """These numbers of the update were already filled with other jobs or groups."""

    code = "API.BUNCH_DIFFERS"
    sqlstate = "WF215"


class BunchOverlap(Conflict):
    """A job of the update was sent twice, in different bunches."""

    code = "API.BUNCH_OVERLAP"
    sqlstate = "WF208"
