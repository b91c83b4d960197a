"""`weft set`: attributes of a batch, a job or a group."""

from weft.cli.edit import edit
from weft.cli.options import SHARED, Shared
from weft.core.errors import Invalid


class NotAnAttribute(Invalid):
    """A word that is not `key=value`."""

    code = "CLI.NOT_AN_ATTRIBUTE"
    advice = "Write key=value to set an attribute, and key= to remove it."


def set_attributes(target: str, attribute: str, /, *others: str, shared: Shared = SHARED) -> int:
    """Set attributes of a batch, a job or a group, or remove them.

    Args:
        target: `b12`, `b12.j7` or `b12/stage1`.
        attribute: `key=value`; `key=` removes it.
        others: More of them.
        shared: Options of every command.
    """
    given = dict(_parse(word) for word in (attribute, *others))
    return edit(target, {"attributes": given}, shared, done="attributes set")


def _parse(word: str) -> tuple[str, str | None]:
    key, equals, value = word.partition("=")
    if not key or not equals:
        raise NotAnAttribute(
            f"{word[:80]!r} is not an attribute", detail="It has no key, or no '=' after it."
        )
    return key, value or None
