"""Loads the doors that are installed, and hands each role its part of them."""

from collections.abc import Sequence
from functools import cache

from weft.api.http.doors import ApiDoor
from weft.doors.door import DOOR_PLUGINS, Door


@cache
def installed_doors() -> Sequence[Door]:
    """Return the doors, by name."""
    return tuple(door for _, door in sorted(DOOR_PLUGINS.load_all().items()))


@cache
def api_doors() -> Sequence[ApiDoor]:
    """Return what the api serves of them."""
    return tuple(door.api() for door in installed_doors())
