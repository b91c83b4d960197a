"""What may be wrong with a callback that somebody names."""

from weft.core.errors import Conflict, NotFound


class CallbackNotFound(NotFound):
    """No such delivery of this batch."""

    code = "API.CALLBACK_NOT_FOUND"


class CallbackDelivered(Conflict):
    """A callback that its receiver has, so it is not sent again."""

    code = "API.CALLBACK_DELIVERED"
