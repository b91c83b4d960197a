"""Errors about applications."""

from weft.core.errors.kinds import Conflict, Invalid, NotFound


class InvalidApp(Invalid, code="API.INVALID_APP"):
    """A folder is no application that can be used."""

    advice = "The guide on applications says what a folder holds."


class AppNotFound(NotFound, code="API.APP_NOT_FOUND", sqlstate="WF161"):
    """There is no application of this name for the caller, or its content is gone."""

    advice = "List them with `weft app ls`; `weft app add FOLDER` makes one."


class AppIncomplete(Conflict, code="API.APP_INCOMPLETE", sqlstate="WF261"):
    """Not all parts of an application's folder were sent."""

    advice = "Send all parts, then the application again."


class TooManyApps(Conflict, code="API.TOO_MANY_APPS", sqlstate="WF162"):
    """The tenant has as many applications as it may have."""

    advice = "Remove one with `weft app rm NAME`."
