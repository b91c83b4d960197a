"""The settings of one process: the sections of all roles, and those of the plug-ins."""

from dataclasses import dataclass
from typing import TypeVar

from weft.settings.api import ApiSettings
from weft.settings.callbacks import CallbackSettings
from weft.settings.client import ClientProcessSettings
from weft.settings.database import DatabaseSettings
from weft.settings.driver import DriverSettings
from weft.settings.general import GeneralSettings
from weft.settings.schedules import ScheduleSettings
from weft.settings.simulations import SimulationLimits
from weft.settings.sources import SourceSettings
from weft.settings.stores import StoreSettings
from weft.settings.submission import SubmissionSettings
from weft.settings.testers import TesterSettings
from weft.settings.worker import WorkerSettings

Section = TypeVar("Section")


# Fields come in the reverse order of the bases: `weft config` begins with the general ones.
@dataclass(frozen=True, kw_only=True)
class Settings(
    TesterSettings,
    StoreSettings,
    SourceSettings,
    CallbackSettings,
    ScheduleSettings,
    SimulationLimits,
    SubmissionSettings,
    DriverSettings,
    WorkerSettings,
    ApiSettings,
    ClientProcessSettings,
    DatabaseSettings,
    GeneralSettings,
):
    """The settings of one process."""

    plugin_sections: tuple[object, ...] = ()
    """Sections of plug-ins with a value that was given; `section` finds them."""

    def section(self, kind: type[Section]) -> Section:
        """Return the section of a plug-in."""
        for one in self.plugin_sections:
            if isinstance(one, kind):
                return one
        return kind()
