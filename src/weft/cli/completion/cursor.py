"""Where on a command line the cursor is, and what may stand there."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

FILE: Final = Path(__file__).with_name("command_words.json")
FILES: Final = "files"
COMMAND: Final = "command"
"""The value of an argument that is a program with its own arguments."""
ANY: Final = "any"
"""The value of an option or argument of which nothing is known."""


class Cursor(NamedTuple):
    """What may stand at the cursor. `begun`: what of it is there; `before`: what stands before it
    in the same word, `--format=`.
    """

    begun: str
    before: str = ""
    words: Mapping[str, str] = {}
    """Words of weft itself, each with a sentence or nothing."""
    asks: str = ""
    """What of the server: `batches`, `queues` …"""
    left: str = ""
    """What is left to the shell: `files`; `command N`, a program that is word N."""


def read_commands() -> Mapping[str, Any]:
    """Return the words of each command, by its path: `billing project show`."""
    commands: Mapping[str, Any] = json.loads(FILE.read_bytes())
    return commands


def cursor_of(words: Sequence[str], commands: Mapping[str, Any]) -> Cursor:
    """Return what may stand at the end of these words, those after `weft` up to the cursor."""
    *before, current = words or [""]
    path, command, n_values, is_ended, at = "", commands[""], 0, False, 0
    while at < len(before):
        word, at = before[at], at + 1
        if word == "--" and not is_ended:
            is_ended = True
        elif _is_option(word, is_ended=is_ended):
            name, sign, _ = word.partition("=")
            if command["options"].get(name, ["", ""])[1] and not sign:
                if at == len(before):
                    return _cursor_at_value(command["options"][name][1], current)
                at += 1
        elif not (n_values or is_ended) and word in command["commands"]:
            path = f"{path} {word}".lstrip()
            command = commands[path]
        elif _kind_at(command, n_values) == COMMAND:
            return Cursor(current, left=f"{COMMAND} {at - 1}")
        else:
            n_values += 1
    if _is_option(current, is_ended=is_ended) or current == "-":
        return _cursor_at_option(command, current)
    if _kind_at(command, n_values) == COMMAND:
        return Cursor(current, left=f"{COMMAND} {len(before)}")
    cursor = _cursor_at_value(_kind_at(command, n_values), current)
    if n_values or is_ended:
        return cursor
    return cursor._replace(words={**command["commands"], **cursor.words})


def _is_option(word: str, *, is_ended: bool) -> bool:
    return not is_ended and len(word) > 1 and word.startswith("-")


def _kind_at(command: Mapping[str, Any], n_values: int) -> Any:  # noqa: ANN401 (text or a list)
    """Return what the next argument is; the last kind of some commands repeats."""
    kinds = command["arguments"]
    if n_values < len(kinds):
        return kinds[n_values]
    return kinds[-1] if kinds and command["repeats"] else ""


def _cursor_at_option(command: Mapping[str, Any], current: str) -> Cursor:
    name, sign, value = current.partition("=")
    if not sign:
        return Cursor(
            current, words={name: said for name, (said, _) in command["options"].items()}
        )
    kind = command["options"].get(name, ["", ""])[1]
    return _cursor_at_value(kind, value)._replace(before=f"{name}=")


def _cursor_at_value(kind: Any, current: str) -> Cursor:  # noqa: ANN401 (text or a list)
    if isinstance(kind, list):
        return Cursor(current, words=dict.fromkeys(kind, ""))
    if kind == FILES:
        return Cursor(current, left=FILES)
    return Cursor(current, asks="" if kind == ANY else kind)
