"""A group in the path of an address."""

from urllib.parse import quote

from weft.core.errors import BadId


def group_segment(group: int | str) -> str:
    """Return what names a group in a path: its number, its path or a set's name. Raise `BadId` for
    an empty text.
    """
    text = str(group)
    if not text:  # the address would be that of the list of groups
        raise BadId(text, expected="a group has a number, a path or a name")
    # A name holds no slash, so this is a path.
    return quote(f"/{text}" if "/" in text and text[0] != "/" else text, safe="")
