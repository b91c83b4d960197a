"""Errors about sinks and their messages."""

from weft.core.errors.kinds import Conflict, NotFound


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
