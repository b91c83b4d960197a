"""Errors about callbacks."""

from weft.core.errors.kinds import Conflict, NotFound


class CallbackNotFound(NotFound, code="API.CALLBACK_NOT_FOUND", sqlstate="WF108"):
    """The batch has no such delivery."""


class CallbackDelivered(Conflict, code="API.CALLBACK_DELIVERED", sqlstate="WF217"):
    """The callback was delivered, so it is not sent again."""


class NoCallbackKey(Conflict, code="API.NO_CALLBACK_KEY"):
    """This api does not have the key that signs callbacks."""
