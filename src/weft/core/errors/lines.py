"""Errors about production lines and the statuses of jobs."""

from weft.core.errors.kinds import Conflict, Forbidden, Invalid, NotFound


class InvalidSetup(Invalid):
    """The file of a line cannot be used."""

    code = "API.INVALID_SETUP"
    advice = "Correct the lines; the guide on lifecycles describes the fields."


class SetupNotFound(NotFound):
    """The line does not exist."""

    code = "API.SETUP_NOT_FOUND"
    sqlstate = "WF142"


class LifecycleNotFound(NotFound):
    """The lifecycle does not exist."""

    code = "API.LIFECYCLE_NOT_FOUND"
    sqlstate = "WF141"


class LifecycleTaken(Conflict):
    """Another line has a lifecycle of this name."""

    code = "API.LIFECYCLE_TAKEN"
    sqlstate = "WF241"


class InvalidStatusTransition(Conflict):
    """The lifecycle of the job does not allow this status now."""

    code = "API.INVALID_STATUS_TRANSITION"
    sqlstate = "WF242"


class UnknownStatus(Invalid):
    """The lifecycle of the job has no such status."""

    code = "API.UNKNOWN_STATUS"
    sqlstate = "WF243"


class NoLifecycle(Conflict):
    """The batch of the job has no lifecycle."""

    code = "API.NO_LIFECYCLE"
    sqlstate = "WF244"


class StatusBusy(Conflict):
    """The core of the job could not be moved just now."""

    code = "API.STATUS_BUSY"
    sqlstate = "WF245"


class ParameterNotFound(NotFound):
    """The parameter does not exist."""

    code = "API.PARAMETER_NOT_FOUND"
    sqlstate = "WF144"


class ParameterOfOtherType(Conflict):
    """The parameter has values of another type."""

    code = "API.PARAMETER_OF_OTHER_TYPE"
    sqlstate = "WF246"


class SourceNotFound(NotFound):
    """The source does not exist."""

    code = "API.SOURCE_NOT_FOUND"
    sqlstate = "WF143"


class SourceTaken(Conflict):
    """Another line has a source of this name."""

    code = "API.SOURCE_TAKEN"
    sqlstate = "WF265"


class SourceOfAnother(Forbidden):
    """Only its owner, or an operator, may change a source."""

    code = "API.SOURCE_OF_ANOTHER"


class SinkNotFound(NotFound):
    """The sink does not exist."""

    code = "API.SINK_NOT_FOUND"
    sqlstate = "WF151"


class MessageNotFound(NotFound):
    """The sink has no such message."""

    code = "API.MESSAGE_NOT_FOUND"
    sqlstate = "WF152"


class SinkTaken(Conflict):
    """Another line has a sink of this name."""

    code = "API.SINK_TAKEN"
    sqlstate = "WF251"


class MessageNotHeld(Conflict):
    """No check has stopped the message, or somebody has decided about it."""

    code = "API.MESSAGE_NOT_HELD"
    sqlstate = "WF254"


class MessageDelivered(Conflict):
    """The message was delivered, so it is not sent again."""

    code = "API.MESSAGE_DELIVERED"
    sqlstate = "WF252"
