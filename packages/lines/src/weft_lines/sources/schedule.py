"""The source `schedule`: each time of a cron expression is an item."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import islice, takewhile
from typing import Any, Final

from weft.core.schedules import WrongCron, WrongZone, check_cron, due_times, zone_of
from weft.ports.line_kinds import Option, SourceKind
from weft.ports.source import Item, Reading, SourceSite


def _wrong(check: Callable[[str], object], given: object) -> str:
    try:
        check(str(given))
    except (WrongCron, WrongZone) as error:
        return str(error)
    return ""


KIND: Final = SourceKind(
    {
        "cron": Option(partial(_wrong, check_cron), needed=True),
        "time_zone": Option(partial(_wrong, zone_of)),
    }
)


class ScheduleSource:
    """Yields the times since the last reading; the first one only notes when it was."""

    def read(
        self, options: Mapping[str, Any], cursor: Mapping[str, Any] | None, site: SourceSite
    ) -> Reading:
        """Read once."""
        now = datetime.now(UTC)
        if cursor is None:
            return Reading((), {"at": now.isoformat()})
        zone = zone_of(str(options.get("time_zone", "UTC")))
        after = datetime.fromisoformat(str(cursor["at"]))
        times = takewhile(lambda at: at <= now, due_times(str(options["cron"]), zone, after))
        found = [*islice(times, site.items_max)]
        items = []
        for at in found:
            local = at.astimezone(zone)
            fields = {"at": at.isoformat().replace("+00:00", "Z"), "day": f"{local:%Y-%m-%d}"}
            items.append(Item(local.isoformat(timespec="minutes"), fields))
        more = len(found) == site.items_max
        return Reading(items, {"at": (found[-1] if more else now).isoformat()}, more=more)
