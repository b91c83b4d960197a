"""Errors about schedules."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import Conflict, Forbidden, NotFound


class ScheduleNotFound(NotFound, code="API.SCHEDULE_NOT_FOUND", sqlstate="WF115"):
    """The schedule does not exist."""


class TooManySchedules(Conflict, code="API.TOO_MANY_SCHEDULES", sqlstate="WF114"):
    """A user has as many schedules as the setting allows."""


class ScheduleOfAnother(Forbidden, code="API.SCHEDULE_OF_ANOTHER"):
    """Only the owner can run a schedule, and only the owner or an administrator change it."""


class InvalidCron(InvalidDocument, code="API.INVALID_CRON"):
    """A cron expression that cannot be used."""

    fact = "a cron expression cannot be used"
    advice = "Write minute, hour, day of the month, month and day of the week, as `0 2 * * *`."


class UnknownTimeZone(InvalidDocument, code="API.UNKNOWN_TIME_ZONE"):
    """A time zone that does not exist."""

    fact = "a time zone does not exist"
    advice = "Use a name of the IANA database, such as Europe/Berlin."
