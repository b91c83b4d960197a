"""Files that describe a batch, in YAML, TOML or JSON: the document of `POST /v1/batches`."""

import gc
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from weft.core.bounded import DEPTH_MAX, TOO_DEEP, bounded, read_toml
from weft.core.errors import Invalid

if TYPE_CHECKING:
    import yaml
from typing import IO

Format = Literal["yaml", "toml", "json"]
OnRead = Callable[[float], None]
_TOML_PLACE = re.compile(r"(.*) \(at line ([0-9]+), column ([0-9]+)\)", re.DOTALL)
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_YAML_PLACE = re.compile(r"([0-9]+):([0-9]+): (.*)", re.DOTALL)
_BRACKET = re.compile(r"""[\[{\]}]|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*""")
_LONG_NUMBER = re.compile(r"""(?<![\w"'])-?(?:0[xob][0-9a-fA-F_]{17}|[0-9][0-9_]{18})""")
READABLE = "Name a readable file, or - for standard input."
WRITABLE = "Name a file in a directory that you may write to."
VALUES_MAX = 20_000_000
COMPOSED = 0.45
"""The share of the time after which the whole text was seen and its values are made."""
FORMATS: Mapping[str, Format] = {".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json"}


class UnreadableDocument(Invalid, code="CLI.UNREADABLE_DOCUMENT"):
    """A file that cannot be read as a document."""


@contextmanager
def able_to(act: str, hint: str = READABLE) -> Iterator[None]:
    """Raise `UnreadableDocument` if the system refuses what is done here."""
    try:
        yield
    except OSError as error:
        detail = f"{error.strerror or error}."
        raise UnreadableDocument(f"cannot {act}", detail=detail, hint=hint) from error


def format_of(path: str) -> Format:
    """Return the format of a file by its extension. Raise `UnreadableDocument` for others."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise UnreadableDocument(
            f"cannot tell the format of {path!r}",
            detail="Its name does not end with .yaml, .yml, .toml or .json.",
            hint="Name the format: --format yaml, toml or json.",
        )
    return FORMATS[suffix]


def parse_document(
    body: bytes, form: Format, *, name: str, on_read: OnRead | None = None
) -> dict[str, Any]:
    """Return the document. Raise `UnreadableDocument` with the position of the mistake.

    `on_read` is told the share of a file in YAML that is done: others are read in a moment.
    """
    try:
        text = body.decode("utf-8-sig")  # without the mark of Windows programs
        with _without_collector():
            document = _parse_yaml(text, on_read) if form == "yaml" else _PARSERS[form](text)
            msgspec.msgpack.encode(document)  # what no message can carry is refused here
    except (ValueError, OverflowError) as error:
        raise UnreadableDocument(
            f"cannot read {name} as {form.upper()}",
            detail=_detail(error, name, body),
            hint="Correct it and try again.",
        ) from error
    if not isinstance(document, dict):
        raise UnreadableDocument(
            f"{name} is not a batch document",
            detail="It is not a mapping from names to values.",
            hint="Begin it with `name:` and `jobs:`.",
        )
    return document


def _detail(error: Exception, name: str, body: bytes) -> str:
    """Return the place of a mistake, as an editor takes it, and what it is."""
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return f"{name}:{line}: byte 0x{error.object[error.start]:02x} is not UTF-8."
    text, at = body.decode("utf-8-sig"), None
    if isinstance(error, OverflowError) or "integer string conversion" in str(error):
        at, error = _LONG_NUMBER.search(text), ValueError("a number has more than 64 bits")
    elif str(error) == TOO_DEEP:
        at = _too_deep(text)
    if at is not None:
        return f"{name}:{_position(text, at.start())}: {error}."
    if isinstance(error, json.JSONDecodeError):
        return f"{name}:{error.lineno}:{error.colno}: {_decapitalised(error.msg)}."
    if match := _TOML_PLACE.fullmatch(str(error)):
        return f"{name}:{match[2]}:{match[3]}: {_decapitalised(match[1])}."
    if match := _YAML_PLACE.fullmatch(str(error)):
        return f"{name}:{match[1]}:{match[2]}: {match[3]}."
    return f"{name}: {_decapitalised(str(error))}."


def _too_deep(text: str) -> re.Match[str] | None:
    """Return the bracket that is too deep; None: what is too deep has none."""
    depth = 0
    for found in _BRACKET.finditer(text):
        depth += (found[0] in "[{") - (found[0] in "]}")
        if depth > DEPTH_MAX:
            return found
    return None


def _position(text: str, at: int) -> str:
    return f"{text.count(chr(10), 0, at) + 1}:{at - text.rfind(chr(10), 0, at)}"


def _decapitalised(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def refuse_queues(document: Mapping[str, Any], name: str) -> None:
    """Raise `UnreadableDocument` for a file of queues where one of jobs belongs."""
    if "queue" in document and "jobs" not in document:
        raise UnreadableDocument(
            f"{name} describes queues, not jobs",
            detail="It has tables [[queue]] and no jobs.",
            hint=f"`weft queue apply --dry-run {shlex.quote(name)}` shows what it would change.",
        )


@contextmanager
def _without_collector() -> Iterator[None]:
    """Let the cycle collector rest: to look at all objects of a growing document again and again
    takes three quarters of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Pieces:
    """A text that says how much of it was read."""

    def __init__(self, text: str, on_read: OnRead) -> None:
        self._text = text
        self._on_read = on_read
        self._at = 0

    def read(self, size: int) -> str:
        self._on_read(COMPOSED * self._at / len(self._text))
        piece = self._text[self._at : self._at + size]
        self._at += len(piece)
        return piece


def _parse_yaml(text: str, on_read: OnRead | None) -> Any:  # noqa: ANN401 (any document)
    if text.lstrip()[:1] == "{":  # programs write JSON, of which YAML reads most, but not all
        with suppress(ValueError):
            return _parse_json(text)
    import yaml  # noqa: PLC0415

    source: Any = text if on_read is None or not text else _Pieces(text, on_read)

    def note_node(node: Any) -> None:  # noqa: ANN401 (PyYAML's)
        if on_read is not None:
            on_read(COMPOSED + (1 - COMPOSED) * min(1.0, node.start_mark.index / len(text)))

    try:
        document = bounded(lambda: yaml.load(source, Loader=_loader(note_node)))  # noqa: S506 (a safe one with more checks)
    except yaml.MarkedYAMLError as error:
        raise ValueError(_placed(error, text)) from error
    except yaml.reader.ReaderError as error:
        position = _position(text, error.position)
        raise ValueError(f"{position}: a control character stands here") from error
    except LookupError as error:
        raise ValueError("a tag such as !!int stands before something else") from error
    if "*" in text and _size_of(document, {}) > VALUES_MAX:
        raise ValueError(f"its aliases stand for more than {VALUES_MAX} values")
    return document


def _size_of(value: object, known: dict[int, int]) -> int:
    """Return how many values there are, what aliases stand for each time."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        inside = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size_of(one, known) for one in inside)
    return known[id(value)]


def _placed(error: "yaml.MarkedYAMLError", text: str) -> str:
    """Write an error with its place first; what it was part of comes last."""
    said = error.problem or "it is not YAML"
    begin, mark = error.context_mark, error.problem_mark or error.context_mark
    lines = [*text.split("\n"), ""]
    if mark is not None and lines[mark.line][: mark.column + 1].endswith("\t"):
        said = "a tab cannot indent; write blanks"
    elif (error.context or "").startswith("expected"):
        said = f"{error.context} {said}"
    elif error.context and begin is not None and begin.line != getattr(mark, "line", None):
        said = f"{said} ({error.context} that begins in line {begin.line + 1})"
    return said if mark is None else f"{mark.line + 1}:{mark.column + 1}: {said}"


def _loader(note_node: Callable[[Any], None]) -> "type[yaml.SafeLoader]":
    """Return the safe loader, in C where there is one, that refuses the same key twice and tells
    of each mapping.
    """
    import yaml  # noqa: PLC0415

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002 (PyYAML's)
            note_node(node)
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    if key.value in seen:
                        raise yaml.constructor.ConstructorError(
                            None, None, f"the key {key.value!r} is given twice", key.start_mark
                        )
                    seen.add(key.value)
                    key.tag = "tag:yaml.org,2002:str"  # `on` is the name of a field, not true
            return super().construct_mapping(node, deep=deep)

        def construct_time(self, node: Any) -> Any:  # noqa: ANN401 (PyYAML's)
            return self.construct_scalar(node)

        def construct_number(self, node: Any) -> Any:  # noqa: ANN401 (PyYAML's)
            """As YAML 1.2 reads it and its author did: `010` is ten."""
            if _LEADING_ZERO.fullmatch(node.value):
                return int(node.value)
            return self.construct_yaml_int(node)

    # A date is text here: every field that holds one takes text.
    Loader.add_constructor("tag:yaml.org,2002:timestamp", Loader.construct_time)
    Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_number)
    return Loader


def _parse_toml(text: str) -> Any:  # noqa: ANN401 (any document)
    return _times_as_text(read_toml(text))


def _parse_json(text: str) -> Any:  # noqa: ANN401 (any document)
    return bounded(lambda: json.loads(text, object_pairs_hook=_unique))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is given twice in one object")
    return found


def _times_as_text(value: Any) -> Any:  # noqa: ANN401 (any document)
    if isinstance(value, dict):
        return {key: _times_as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_times_as_text(item) for item in value]
    return value.isoformat() if isinstance(value, datetime | date | time) else value


_PARSERS = {"toml": _parse_toml, "json": _parse_json}


def opened_to_write(path: Path) -> IO[str]:
    """Open a file for a text. Raise `UnreadableDocument` if it cannot be written."""
    with able_to(f"write {str(path)!r}", WRITABLE):
        return path.open("w", encoding="utf-8")
