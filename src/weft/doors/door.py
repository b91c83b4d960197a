"""What a door registers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from weft.ports.plugins import PluginGroup

if TYPE_CHECKING:
    from weft.api.http.doors import ApiDoor
    from weft.driver.callback_forms import CallbackForm


@dataclass(frozen=True, eq=False, kw_only=True)
class Door:
    """The parts of a door. Each role calls for its own, so that no other role imports it."""

    name: str
    """That of its entry point, of small letters, digits and `-`."""
    api: Callable[[], "ApiDoor"]
    callbacks: "Callable[[], CallbackForm] | None" = None
    """How the driver writes callbacks of batches that came through it; None: as all others."""


DOOR_PLUGINS: Final = PluginGroup[Door]("weft.doors", "door")
