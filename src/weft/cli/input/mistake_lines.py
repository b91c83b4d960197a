"""Where in a file a mistake is: line, job and field instead of a JSON pointer."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from weft.cli.input.toml_lines import toml_lines
from weft.core.errors import FieldError, WeftError

Node = Any  # of yaml, whose types know no `id`
SHOWN_CHARS_MAX = 60
_LISTS = {"jobs", "groups", "queues", "pools", "flavours"}
_KINDS = {bool: "true or false", int: "a number", float: "a number", type(None): "nothing"}
_SCALAR_EXPECTED = re.compile("expected (text|a time), got ")
_LINE: Final = re.compile("line [0-9]+: ")
"""What the api says of a file that it reads itself."""
_SHELL: Final = frozenset("|&;<>()$`\\\"'*?~#\n")
"""Characters that only a shell understands."""


def point_to_lines(
    error: WeftError, *, file: str, body: bytes, document: Mapping[str, Any]
) -> None:
    """Make an error name the line in the file, the job by its name and the field. A value that
    needs quotes is shown with them.
    """
    if not error.errors:
        return
    root, errors = _nodes(body), []
    toml = _toml_lines(body) if root is None or root.id == "scalar" else {}
    for one in error.errors:
        parts, message = _said_at(_parts(one.pointer), document), _LINE.sub("", one.message, 1)
        found = _Found.of(root, parts)
        where = _where(parts, _line_in(toml, parts) if toml else found.line, file, document)
        errors.append(
            FieldError(where, _explained(message, _value(document, parts), parts, found.written))
        )
    error.errors = tuple(dict.fromkeys(errors))
    if len(error.errors) == 1:
        error.detail = f"{error.errors[0]}."


def _parts(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _said_at(parts: list[str], document: Mapping[str, Any]) -> list[str]:
    """Return where the file says this: among the `defaults`, if the job itself does not."""
    if len(parts) > 2 and parts[0] == "jobs" and _value(document, parts) is None:  # noqa: PLR2004 (jobs, a number, a field)
        default = ["defaults", *parts[2:]]
        if _value(document, default) is not None:
            return default
    return parts


def _where(parts: Sequence[str], line: int | None, file: str, document: Mapping[str, Any]) -> str:
    where = file if line is None else f"{file}:{line}"
    names, field = _named(parts, document)
    text = ", ".join([*names, *([_cut(".".join(field), 200)] if field else [])])
    return f"{where}: {text}" if text else where


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _named(parts: Sequence[str], document: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return what of a place has a name, outermost first, as `pool 'burst'`, and the rest."""
    names: list[str] = []
    one: object = document
    while len(parts) > 1 and parts[0] in _LISTS and parts[1].isdecimal():
        one = _value(one, parts[:2])
        if names and not isinstance(one, Mapping):
            break  # a name of another table
        name = one.get("name") or one.get("path") if isinstance(one, Mapping) else None
        shown = repr(_cut(name, 60)) if isinstance(name, str) else f"{int(parts[1]) + 1}"
        names.append(f"{parts[0][:-1]} {shown}")
        parts = parts[2:]
    return names, list(parts)


def _value(document: object, parts: Sequence[str]) -> Any:  # noqa: ANN401 (any value of a document)
    """Return the value that these parts lead to; None: nothing."""
    for part in parts:
        if isinstance(document, Mapping):
            document = document.get(part)
        elif isinstance(document, list) and part.isdecimal() and int(part) < len(document):
            document = document[int(part)]
        else:
            return None
    return document


def _explained(message: str, value: object, parts: Sequence[str], written: str | None) -> str:
    """Say what to write instead. `written`: the value as the file has it; 0644 must not become
    420, as the reader of the file understands it.
    """
    if message.startswith("expected a list, got text") and isinstance(value, str):
        if parts[-1] == "command" and not _SHELL.isdisjoint(value):
            line = value if len(value) <= SHOWN_CHARS_MAX else "…"
            return f"{message}, and a shell reads such a line: write script: {line}"
        items = value.split() if parts[-1] == "command" else [value]
        shown = json.dumps(items, ensure_ascii=False)
        return f"{message}: write {shown}" if len(shown) <= SHOWN_CHARS_MAX else message
    expected = _SCALAR_EXPECTED.match(message)
    if expected is None or type(value) not in _KINDS:
        return message
    if written is None:
        return f"{message}: put it in quotes"
    if not written or len(written) > SHOWN_CHARS_MAX:
        return message
    kind = _KINDS[type(value)]
    return f'{written} is {kind}, and {expected[1]} is needed: write "{written}"'


def _nodes(body: bytes) -> Node:
    """Return the tree of a YAML or JSON file with its lines; None: it is neither."""
    import yaml  # noqa: PLC0415

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node: Node = yaml.compose(body, Loader=loader)
    except (yaml.YAMLError, RecursionError):
        return None
    return node


def _toml_lines(body: bytes) -> Mapping[tuple[str, ...], int]:
    """Return the lines of a TOML file; none: it is none."""
    try:
        return toml_lines(body.decode())
    except ValueError:
        return {}


def _line_in(lines: Mapping[tuple[str, ...], int], parts: Sequence[str]) -> int:
    """Return the line of the innermost of these parts that the file has. The file names its tables
    in the singular: `[[queue]]` for `/queues/0`.
    """
    path = tuple(parts)
    if path and not any(known[:1] == path[:1] for known in lines):
        path = (path[0].removesuffix("s"), *path[1:])
    return next(lines[path[:end]] for end in range(len(path), -1, -1) if path[:end] in lines)


class _Found(NamedTuple):
    """What of a place the file has."""

    line: int | None
    """Of the innermost of its parts that is there."""
    written: str | None
    """The value, letter for letter; None: there is none, or it is a list or a mapping."""

    @classmethod
    def of(cls, node: Node, parts: Sequence[str]) -> "_Found":
        if node is None:
            return cls(None, None)
        line = node.start_mark.line + 1
        for part in parts:
            found = None
            if node.id == "mapping":
                found = next((pair for pair in node.value if pair[0].value == part), None)
            elif node.id == "sequence" and part.isdecimal() and int(part) < len(node.value):
                found = (node.value[int(part)],) * 2
            if found is None:
                return cls(int(line), None)
            line, node = found[0].start_mark.line + 1, found[1]
        return cls(int(line), node.value if node.id == "scalar" else None)
