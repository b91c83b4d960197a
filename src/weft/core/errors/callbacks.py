"""Errors about callbacks."""

from weft.core.errors.kinds import Conflict, NotFound


class CallbackNotFound(NotFound):
    """The batch has no such delivery."""

    code = "API.CALLBACK_NOT_FOUND"
    sqlstate = "WF108"


class CallbackDelivered(Conflict):
    """The callback was delivered, so it is not sent again."""

    code = "API.CALLBACK_DELIVERED"
    sqlstate = "WF217"


class NoCallbackKey(Conflict):
    """This api does not have the key that signs callbacks."""

    code = "API.NO_CALLBACK_KEY"
