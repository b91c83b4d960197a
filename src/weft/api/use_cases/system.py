"""The whole site, for those who administer it."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from weft import __version__
from weft.api.calls.call import call
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.findings import judge
from weft.ports.store import Caller
from weft.settings import Settings, all_declared, shown_value, values_of
from weft.settings.jobs_apart import find_apart
from weft.submission.services import Answer
from weft.wire.answers.system import System

ROWS_MAX: Final = 50


@call("GET /v1/system", Right.ADMINISTER, System)
async def get_system(services: Services, _: Caller) -> Answer:
    """Return the processes that are connected, the database, what the last audit has found, the
    settings in force, and what of all this is not as it should be: `health, processes, programs,
    database, audit, settings`. Only for administrators of the site. Raise `RightMissing`.
    """
    found = dict(await services.store.get_system(limit=ROWS_MAX))
    health = judge(found)
    handed_over = found.pop("driver_settings")
    apart = find_apart(services.settings, found.pop("n_submitters"))
    return {
        **found,
        "version": __version__,
        "health": [asdict(finding) for finding in [*health, apart]],
        "settings": list(_parameters(services.settings, handed_over)),
    }


def _parameters(settings: Settings, handed_over: Mapping[str, Any]) -> Iterator[Answer]:
    values = values_of(settings)
    for name, declared in all_declared().items():
        value = shown_value(declared, values[name])
        followed = shown_value(declared, handed_over.get(name, values[name]))
        yield {
            "name": name,
            "value": value,
            "is_default": values[name] == declared.default,
            "driver_value": None if followed == value else followed,
            "help": declared.help,
        }
