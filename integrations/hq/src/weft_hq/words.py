"""The words of HyperQueue: the options of a submission, and the directives of a script."""

from __future__ import annotations

HEAD_BYTES = 32 << 10
REPEATED = ("resource", "env", "attribute")
VALUES = {
    *("name", "cwd", "stdout", "stderr", "log", "stream", "cpus", "time-limit", "time-request"),
    *("priority", "crash-limit", "max-fails", "pin", "nodes", "directives"),
    *("queue", "retries", "container", *REPEATED),
}


class Mistake(Exception):
    """The command line or the script is wrong."""


class Options(dict[str, str]):
    """What was said, and what may be said repeatedly."""

    def __init__(self) -> None:
        self.repeated: dict[str, list[str]] = {name: [] for name in REPEATED}

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """Return the `K=V` of an option that may be repeated."""
        parts = [text.partition("=") for text in self.repeated[name]]
        if wrong := [key for key, equals, _ in parts if not key or not equals]:
            raise invalid(name, wrong[0])
        return [(key, value) for key, _, value in parts]


def invalid(name: str, text: str) -> Mistake:
    """Return the mistake of a value."""
    return Mistake(f"invalid value '{text}' for '--{name}'")


def number(name: str, text: str) -> float:
    """Read a number. Raise `Mistake`."""
    try:
        return float(text)
    except ValueError:
        raise invalid(name, text) from None


def split(line: str) -> list[str]:
    """Return the words of a directive. A single quote is an ordinary character."""
    words, word, is_quoted, signs = [], "", False, iter(f"{line} ")
    is_word = False
    for sign in signs:
        if sign.isspace() and not is_quoted:
            words += [word] if is_word else []
            word, is_word = "", False
            continue
        is_word = True
        if sign == '"':
            is_quoted = not is_quoted
        elif sign == "\\":
            following = next(signs)
            word += following if is_quoted or following in ' "' else sign + following
        else:
            word += sign
    if is_quoted:
        raise Mistake(f"a quote is not closed: {line}")
    return words


def read_options(words: list[str], found: Options) -> list[str]:
    """Add options to those that were found; return what follows them, the program."""
    rest = iter(words)
    for word in rest:
        if word == "--" or not word.startswith("-"):
            return [*([] if word == "--" else [word]), *rest]
        option, equals, text = word.partition("=")
        name = option.removeprefix("--")
        if name not in VALUES:
            raise Mistake(f"unexpected argument '{option}' found")
        value = text if equals else next(rest, None)
        if value is None:
            raise Mistake(f"a value is required for '{option}' but none was supplied")
        if name in REPEATED:
            found.repeated[name].append(value)
        else:
            found[name] = value
    return []


def read_script(file: str) -> tuple[list[str], list[str]]:
    """Return the directives in a script, and the interpreter that its first line names."""
    try:
        with open(file, "rb") as script:
            lines = script.read(HEAD_BYTES).decode(errors="replace").splitlines()
    except OSError as error:
        raise Mistake(f"cannot read {file}: {error.strerror}") from error
    words: list[str] = []
    for line in map(str.strip, lines):
        if line and not line.startswith("#"):
            break
        words += split(line[4:]) if line.startswith("#HQ ") else []
    return words, lines[0][2:].split() if lines and lines[0].startswith("#!") else []


def seconds(text: str) -> float:
    """Read `1h 30min` or `[[HH:]MM:]SS`."""
    import re  # noqa: PLC0415

    from weft.core.text.durations import parse_seconds  # noqa: PLC0415 (3 ms)

    try:
        return parse_seconds(re.sub(r"(\d+) *(ms|m(?=in)|[dhs])[a-z]*", r"\1\2", text))
    except ValueError:
        raise invalid("time-limit", text) from None
