"""Errors about schedules."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import Conflict, Forbidden, NotFound


class ScheduleNotFound(NotFound):
    """The schedule does not exist."""

    code = "API.SCHEDULE_NOT_FOUND"
    sqlstate = "WF115"


class TooManySchedules(Conflict):
    """A user has as many schedules as the setting allows."""

    code = "API.TOO_MANY_SCHEDULES"
    sqlstate = "WF114"


class ScheduleOfAnother(Forbidden):
    """Only the owner can run a schedule, and only the owner or an administrator change it."""

    code = "API.SCHEDULE_OF_ANOTHER"


class InvalidCron(InvalidDocument):
    """A cron expression that cannot be used."""

    code = "API.INVALID_CRON"
    fact = "a cron expression cannot be used"
    advice = "Write minute, hour, day of the month, month and day of the week, as `0 2 * * *`."


class UnknownTimeZone(InvalidDocument):
    """A time zone that does not exist."""

    code = "API.UNKNOWN_TIME_ZONE"
    fact = "a time zone does not exist"
    advice = "Use a name of the IANA database, such as Europe/Berlin."
