"""Attributes as words of a command line."""

from weft.core.errors import Invalid


class NotAnAttribute(Invalid, code="CLI.NOT_AN_ATTRIBUTE"):
    """An argument that is not `key=value`."""

    advice = "Write key=value to set an attribute, and key= to remove it."


def parse_attribute(word: str) -> tuple[str, str | None]:
    """Return key and value of `key=value`, of `key=` None."""
    key, equals, value = word.partition("=")
    if not key or not equals:
        raise NotAnAttribute(
            f"{word[:80]!r} is not an attribute", detail="It has no key, or no '=' after it."
        )
    return key, value or None
