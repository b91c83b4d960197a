"""Errors about the setup of production lines."""

from weft.core.errors.kinds import Invalid, NotFound


class InvalidSetup(Invalid, code="API.INVALID_SETUP"):
    """The file of a line cannot be used."""

    advice = "Correct the lines; the guide on lifecycles describes the fields."


class SetupNotFound(NotFound, code="API.SETUP_NOT_FOUND", sqlstate="WF142"):
    """The line does not exist."""
