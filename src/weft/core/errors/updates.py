"""Errors about updates: jobs that are being submitted."""

from weft.core.errors.kinds import Conflict, Invalid, NotFound


class UpdateNotFound(NotFound):
    """No such update of this batch."""

    code = "API.UPDATE_NOT_FOUND"
    sqlstate = "WF104"


class UpdateIncomplete(Invalid):
    """An update is committed before all that it reserved is there."""

    code = "API.UPDATE_INCOMPLETE"
    sqlstate = "WF202"


class UpdateCommitted(Conflict):
    """An update that is committed never changes."""

    code = "API.UPDATE_COMMITTED"
    sqlstate = "WF203"


class OutsideUpdate(Invalid):
    """Jobs or groups that do not fit into what their update reserved."""

    code = "API.OUTSIDE_UPDATE"
    sqlstate = "WF207"


class BunchDiffers(Conflict):
    """The same numbers of an update were filled before, with other jobs or groups."""

    code = "API.BUNCH_DIFFERS"
    sqlstate = "WF215"


class BunchOverlap(Conflict):
    """A job of an update that was sent twice, in different bunches."""

    code = "API.BUNCH_OVERLAP"
    sqlstate = "WF208"
