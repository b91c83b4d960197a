"""Make texts from the server short and harmless for a terminal."""

from weft.core.texts import harmless


def plain(text: object) -> str:
    """Return the text with control characters replaced, so that it cannot steer the terminal."""
    return harmless(str(text))


def one_line(text: object, *, width: int = 60) -> str:
    """Return the text as one line of at most `width` characters."""
    line = plain(text).replace("\n", "⏎").replace("\t", " ")
    return line if len(line) <= width else line[: width - 1] + "…"
