"""`weft set`: attributes and the priority of a batch, a job or a group."""

from typing import Any

from weft.cli.input.edit import edit
from weft.cli.input.options import SHARED, Shared
from weft.core.errors import Invalid


class NotAnAttribute(Invalid):
    """A word that is not `key=value`."""

    code = "CLI.NOT_AN_ATTRIBUTE"
    advice = "Write key=value to set an attribute, and key= to remove it."


class NothingToSet(Invalid):
    """Neither an attribute nor a priority."""

    code = "CLI.NOTHING_TO_SET"
    advice = "Write key=value to set an attribute, or --priority N."


def set_attributes(
    target: str, /, *attributes: str, priority: int | None = None, shared: Shared = SHARED
) -> int:
    """Set attributes of a batch, a job or a group, or remove them; or change the priority.

        weft set b12 cohort=scz1 owner= --priority 10

    Args:
        target: `b12`, `b12.j7` or `b12/stage1`.
        attributes: `key=value`; `key=` removes it.
        priority: Of a job, or of those of a batch or a group that have not ended: higher first,
            from -1000 to 1000. It waits until all have it; the server goes on without it.
        shared: Options of every command.
    """
    patch: dict[str, Any] = {}
    if attributes:
        patch["attributes"] = dict(_parse(word) for word in attributes)
    if priority is not None:
        patch["priority"] = priority
    if not patch:
        raise NothingToSet(
            "there is nothing to set", detail="The command names no attribute and no priority."
        )
    return edit(target, patch, shared, done=f"{' and '.join(patch)} set")


def _parse(word: str) -> tuple[str, str | None]:
    key, equals, value = word.partition("=")
    if not key or not equals:
        raise NotAnAttribute(
            f"{word[:80]!r} is not an attribute", detail="It has no key, or no '=' after it."
        )
    return key, value or None
