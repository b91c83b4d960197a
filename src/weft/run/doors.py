"""Loads the doors that are installed, and hands each role its part of them."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from weft.registry.door import DOOR_PLUGINS, Door, DumpFormat

if TYPE_CHECKING:
    from weft.api.http.doors import ApiDoor
    from weft.driver.callback_forms import CallbackForm, NoticeForm


@cache
def installed_doors() -> Sequence[Door]:
    """Return the doors, by name."""
    return tuple(door for _, door in sorted(DOOR_PLUGINS.load_all().items()))


@cache
def api_doors() -> "Sequence[ApiDoor]":
    """Return what the api serves of them."""
    return tuple(door.api() for door in installed_doors())


def client_doors() -> Mapping[str, Door]:
    """Return those that offer a command for their clients, by its name; not those that cannot be
    loaded, as nobody has asked for them.
    """
    doors = DOOR_PLUGINS.load_sound()[0].values()
    return {f"{door.name}-config": door for door in doors if door.client is not None}


def dump_formats() -> Mapping[str, tuple[str, DumpFormat]]:
    """Return what can be imported, by its name, with the name of the door."""
    formats = [(door.name, door.dumps()) for door in installed_doors() if door.dumps is not None]
    return {dump.name: (door, dump) for door, dump in formats}


def callback_forms() -> "Mapping[str, CallbackForm]":
    """Return the forms of callbacks that they have, by door."""
    doors = installed_doors()
    return {door.name: door.callbacks() for door in doors if door.callbacks is not None}


def notice_forms() -> "Mapping[str, NoticeForm]":
    """Return what they tell subscriptions, by door."""
    return {door.name: door.notices() for door in installed_doors() if door.notices is not None}
