"""Where in a file a mistake is: line, job and field instead of a JSON pointer."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from weft.core.errors import FieldError, WeftError

Node = Any  # of yaml, whose types know no `id`
SHOWN_CHARS_MAX = 60
_LISTS = {"jobs", "groups", "queues", "pools"}
_KINDS = {bool: "true or false", int: "a number", float: "a number"}


def point_to_lines(
    error: WeftError, *, file: str, body: bytes, document: Mapping[str, Any]
) -> None:
    """Make an error name the line in the file, the job by its name and the field. A value that
    needs quotes is shown with them.
    """
    if not error.errors:
        return
    root = _nodes(body)
    error.errors = tuple(
        FieldError(_where(parts := _parts(one.pointer), root, file, document),
                   _explained(one.message, _value(document, parts), parts))
        for one in error.errors
    )  # fmt: skip
    if len(error.errors) == 1:
        error.detail = f"{error.errors[0].pointer}: {error.errors[0].message}."


def _parts(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _where(parts: Sequence[str], root: Node, file: str, document: Mapping[str, Any]) -> str:
    line = _line(root, parts)
    where = file if line is None else f"{file}:{line}"
    if len(parts) < 2 or parts[0] not in _LISTS or not parts[1].isdecimal():  # noqa: PLR2004 (a list and an index)
        return f"{where}: {'.'.join(parts)}" if parts else where
    one, field = _value(document, parts[:2]), ".".join(parts[2:])
    name = one.get("name") or one.get("path") if isinstance(one, Mapping) else None
    shown = repr(name) if isinstance(name, str) else f"{int(parts[1]) + 1}"
    text = f"{where}: {parts[0][:-1]} {shown}"
    return f"{text}, {field}" if field else text


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


def _explained(message: str, value: object, parts: Sequence[str]) -> str:
    if message.startswith("expected a list, got text") and isinstance(value, str):
        items = value.split() if parts[-1] == "command" else [value]
        shown = json.dumps(items, ensure_ascii=False)
        return f"{message}: write {shown}" if len(shown) <= SHOWN_CHARS_MAX else message
    if message.startswith("expected text, got") and type(value) in _KINDS:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return f'{text} is {_KINDS[type(value)]}, and text is needed: write "{text}"'
    return message


def _nodes(body: bytes) -> Node:
    """Return the tree of a YAML or JSON file with its lines; None: it is neither."""
    import yaml  # noqa: PLC0415

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node: Node = yaml.compose(body, Loader=loader)
    except (yaml.YAMLError, RecursionError):
        return None
    return node


def _line(node: Node, parts: Sequence[str]) -> int | None:
    """Return the line of the innermost of these parts that the file has."""
    if node is None:
        return None
    line = node.start_mark.line + 1
    for part in parts:
        found = None
        if node.id == "mapping":
            found = next((pair for pair in node.value if pair[0].value == part), None)
        elif node.id == "sequence" and part.isdecimal() and int(part) < len(node.value):
            found = (node.value[int(part)],) * 2
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return int(line)
