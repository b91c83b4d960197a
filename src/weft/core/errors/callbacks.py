"""Errors about callbacks."""

from weft.core.errors.kinds import Conflict, NotFound


class CallbackNotFound(NotFound):
    """No such delivery of this batch."""

    code = "API.CALLBACK_NOT_FOUND"
    sqlstate = "WF108"


class CallbackDelivered(Conflict):
    """A callback that its receiver has, so it is not sent again."""

    code = "API.CALLBACK_DELIVERED"
    sqlstate = "WF217"


class NoCallbackKey(Conflict):
    """This api does not know the key with which callbacks are signed."""

    code = "API.NO_CALLBACK_KEY"
