"""Where messages of a sink go, as its fields say it."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from weft.core.text.filling import wrong_text

MESSAGE_CHARS_MAX: Final = 32_768
WORDS_MAX: Final = 50
MANY: Final = ("each", "products", "events")
"""What a sink has messages of, if not of jobs; one at most."""
_OPTION_CHARS_MAX: Final = 255
_ROOTS: Final = ("job", "product")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")


class Target(NamedTuple):
    """Where the messages go. `url` tells deliveries of one sink from others."""

    url: str
    options: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    command: tuple[str, ...] = ()
    timeout_s: float = 0.0


class SinkReader:
    """Reads the fields of one sink, and says what is wrong."""

    def __init__(self, document: Mapping[str, Any], wrong: Callable[[str, str], None]) -> None:
        self.document = document
        self.wrong = wrong

    def checked(self, field: str, check: Callable[[Any], str], usual: object = "") -> Any:  # noqa: ANN401 (as it is written)
        """Return a field; say what is wrong with it."""
        given = self.document.get(field, usual)
        if what := check(given):
            self.wrong(field, what)
        return given

    def command(self, field: str, given: object) -> tuple[str, ...]:
        """Return the name of a program and its arguments."""
        words = [given] if isinstance(given, str) else given
        if (
            not isinstance(words, list)
            or not 1 <= len(words) <= WORDS_MAX
            or not all(isinstance(word, str) and len(word) <= MESSAGE_CHARS_MAX for word in words)
            or not _WORD.fullmatch(words[0])
            or any("\0" in word for word in words)
        ):
            self.wrong(
                field,
                "it should be the name of a program of the setting sink_commands, or a list of "
                "that and its arguments",
            )
            return ()
        return tuple(words)

    def target(
        self, *names: str, usual: Mapping[str, str], check: Callable[[str, str], str] | None = None
    ) -> Target:
        """Return where messages go: the first option is the address. `usual`: what options are if
        nothing is said; only these are filled in, by job and product.
        """
        found = {}
        for name in names:
            given = self.document.get(name, usual.get(name))
            if name == "transport" and "url" in self.document:
                continue  # it was said what to write instead
            longest = MESSAGE_CHARS_MAX if "$" in str(given) else _OPTION_CHARS_MAX
            is_text = isinstance(given, str) and len(given) <= longest and given.isprintable()
            if not isinstance(given, str) or not is_text or not (given or usual.get(name) == ""):
                self.wrong(name, f"it should be a text of 1 to {_OPTION_CHARS_MAX} characters")
            elif "${" in given and name not in usual:
                self.wrong(name, "nothing is filled into it")
            elif what := wrong_text(given, roots=_ROOTS) or (check(name, given) if check else ""):
                self.wrong(name, what)
            found[name] = str(given)
        return Target(f"{self.document['kind']}:{found.get(names[0])}", found)
