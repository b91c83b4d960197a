"""Paths of tree groups, `/stage1/part2` below the root `/`; numbers of groups to be made."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from weft.core.errors import GroupNotFound
from weft.core.text.texts import wrong_name

ROOT = "/"
PATH_BYTES_MAX = 2000
"""An index of the database has no room for a longer one."""
_LIKE_A_NUMBER = re.compile(r"g?[0-9]+")


class PlannedGroup(NamedTuple):
    """A group to be made: numbers relative to the update, parents 0 (root), positive (new) or
    negative (there already).
    """

    group_id: int
    parent_id: int
    name: str
    path: str


def is_like_number(name: str) -> bool:
    """Say whether a group of this name would be taken for the group of a number: `7`, `g7`."""
    return _LIKE_A_NUMBER.fullmatch(name) is not None


def wrong_path(path: str, *, depth_max: int, name_chars_max: int) -> str | None:
    """Return why this is not the path of a group, or None."""
    if path == ROOT:
        return None
    if not path.startswith("/"):
        return f"{path[:80]!r} does not begin with '/'"
    if (size := len(path.encode(errors="replace"))) > PATH_BYTES_MAX:
        return f"{size} bytes, at most {PATH_BYTES_MAX}"
    names = path[1:].split("/")
    if len(names) > depth_max:
        return f"{len(names)} levels, at most {depth_max} (group_depth_max)"
    for name in names:
        if not name:
            return "a name in it is empty"
        if wrong := wrong_name(name, chars_max=name_chars_max):
            return wrong
    return None


def ancestors(path: str) -> list[str]:
    """Return the paths above it without the root, outermost first, and itself last."""
    parts = path.split("/")[1:]
    return ["/" + "/".join(parts[: n + 1]) for n in range(len(parts))] if path != ROOT else []


async def find_paths(
    paths: Sequence[str], find: Callable[[str], Awaitable[Mapping[str, Any]]]
) -> dict[str, int]:
    """Return the numbers of those paths, and of the ones above them, that `find` finds: it raises
    `GroupNotFound`, and is not asked for what is below.
    """
    found: dict[str, int] = {}
    missing: set[str] = set()
    for path in dict.fromkeys(ancestor for full in paths for ancestor in ancestors(full)):
        if path.rpartition("/")[0] in missing:
            missing.add(path)
            continue
        try:
            found[path] = int((await find(path))["group_id"])
        except GroupNotFound:
            missing.add(path)
    return found


def plan_groups(
    paths: Sequence[str], existing: Mapping[str, int]
) -> tuple[list[PlannedGroup], dict[str, int]]:
    """Return the groups to be made, ancestors first, and the number of every path.

    `existing`: numbers of paths that are there already, as positive numbers.
    """
    number = {ROOT: 0} | {path: -group_id for path, group_id in existing.items()}
    planned: list[PlannedGroup] = []
    for path in paths:
        for ancestor in ancestors(path):
            if ancestor in number:
                continue
            parent, _, name = ancestor.rpartition("/")
            number[ancestor] = len(planned) + 1
            planned.append(PlannedGroup(len(planned) + 1, number[parent or ROOT], name, ancestor))
    return planned, number


def plan_sets(names: Sequence[str], existing: Mapping[str, int], *, after: int) -> dict[str, int]:
    """Return each set's number: new ones follow `after`, those that are there are negative."""
    number = {name: -group_id for name, group_id in existing.items()}
    for name in names:
        if name not in number:
            after += 1
            number[name] = after
    return number
