"""Errors about production lines and the statuses of jobs."""

from weft.core.errors.kinds import Conflict, Forbidden, Invalid, NotFound


class InvalidSetup(Invalid, code="API.INVALID_SETUP"):
    """The file of a line cannot be used."""

    advice = "Correct the lines; the guide on lifecycles describes the fields."


class SetupNotFound(NotFound, code="API.SETUP_NOT_FOUND", sqlstate="WF142"):
    """The line does not exist."""


class LifecycleNotFound(NotFound, code="API.LIFECYCLE_NOT_FOUND", sqlstate="WF141"):
    """The lifecycle does not exist."""


class LifecycleTaken(Conflict, code="API.LIFECYCLE_TAKEN", sqlstate="WF241"):
    """Another line has a lifecycle of this name."""


class InvalidStatusTransition(Conflict, code="API.INVALID_STATUS_TRANSITION", sqlstate="WF242"):
    """The lifecycle of the job does not allow this status now."""


class UnknownStatus(Invalid, code="API.UNKNOWN_STATUS", sqlstate="WF243"):
    """The lifecycle of the job has no such status."""


class NoLifecycle(Conflict, code="API.NO_LIFECYCLE", sqlstate="WF244"):
    """The batch of the job has no lifecycle."""


class StatusBusy(Conflict, code="API.STATUS_BUSY", sqlstate="WF245"):
    """The core of the job could not be moved just now."""


class ParameterNotFound(NotFound, code="API.PARAMETER_NOT_FOUND", sqlstate="WF144"):
    """The parameter does not exist."""


class ParameterOfOtherType(Conflict, code="API.PARAMETER_OF_OTHER_TYPE", sqlstate="WF246"):
    """The parameter has values of another type."""


class SourceNotFound(NotFound, code="API.SOURCE_NOT_FOUND", sqlstate="WF143"):
    """The source does not exist."""


class SourceTaken(Conflict, code="API.SOURCE_TAKEN", sqlstate="WF265"):
    """Another line has a source of this name."""


class SourceOfAnother(Forbidden, code="API.SOURCE_OF_ANOTHER"):
    """Only its owner, or an operator, may change a source."""


class SinkNotFound(NotFound, code="API.SINK_NOT_FOUND", sqlstate="WF151"):
    """The sink does not exist."""


class MessageNotFound(NotFound, code="API.MESSAGE_NOT_FOUND", sqlstate="WF152"):
    """The sink has no such message."""


class SinkTaken(Conflict, code="API.SINK_TAKEN", sqlstate="WF251"):
    """Another line has a sink of this name."""


class MessageNotHeld(Conflict, code="API.MESSAGE_NOT_HELD", sqlstate="WF254"):
    """No check has stopped the message, or somebody has decided about it."""


class MessageDelivered(Conflict, code="API.MESSAGE_DELIVERED", sqlstate="WF252"):
    """The message was delivered, so it is not sent again."""
