"""Errors about applications."""

from weft.core.errors.kinds import Conflict, Invalid, NotFound


class InvalidApp(Invalid):
    """A folder is no application that can be used."""

    code = "API.INVALID_APP"
    advice = "The guide on applications says what a folder holds."


class AppNotFound(NotFound):
    """There is no application of this name for the caller, or its content is gone."""

    code = "API.APP_NOT_FOUND"
    sqlstate = "WF161"
    advice = "List them with `weft app ls`; `weft app add FOLDER` makes one."


class AppIncomplete(Conflict):
    """Not all parts of an application's folder were sent."""

    code = "API.APP_INCOMPLETE"
    sqlstate = "WF261"
    advice = "Send all parts, then the application again."


class TooManyApps(Conflict):
    """The tenant has as many applications as it may have."""

    code = "API.TOO_MANY_APPS"
    sqlstate = "WF162"
    advice = "Remove one with `weft app rm NAME`."
