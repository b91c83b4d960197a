"""Errors about events."""

from weft.core.errors.kinds import (
    WeftError,
)


class EventsGone(WeftError, code="API.EVENTS_GONE", sqlstate="WF304", status=410, exit_code=4):
    """Events after that position were already removed."""
