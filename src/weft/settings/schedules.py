"""Settings of schedules."""

from weft.settings.declare import Bytes, section, setting


@section
class ScheduleSettings:
    """How many schedules there may be, and what happens when they are late or refused."""

    schedules_per_user_max: int = setting(
        1000, "schedules that one user may have", minimum=0, maximum=1_000_000
    )
    schedule_document_bytes_max: Bytes = setting(
        1 << 20, "bytes of the batch document of a schedule", minimum=1 << 10, maximum=16 << 20
    )
    schedule_interval_min_s: float = setting(
        60.0, "shortest time in seconds between two runs", minimum=60, maximum=31_536_000
    )
    schedule_late_s: float = setting(
        60.0, "how many seconds late a run is not missed yet", minimum=1, maximum=31_536_000
    )
    schedule_missed_max: int = setting(
        10,
        "missed runs that a schedule with `missed` = `all` makes up for, the newest ones",
        minimum=1,
        maximum=1000,
    )
    schedule_failures_max: int = setting(
        10,
        "runs refused in a row after which a schedule is paused",
        minimum=1,
        maximum=1000,
        in_sql=True,
    )
    schedule_runs_kept: int = setting(
        10, "runs of a schedule that it shows", minimum=1, maximum=1000, in_sql=True
    )
