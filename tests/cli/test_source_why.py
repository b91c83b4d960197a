"""`weft source why`: what an item without a job waits for, with the command that changes it."""

from typing import Any

from cases import cases
from weft_lines.commands.source import _causes

SOURCE = {"source": "scenes", "paused_at": None, "error": None}
ITEM = {"key": "a", "state": "waiting", "reason": None, "found_at": "2027-04-13T10:13:47Z"}


@cases(
    ("item", "source", "text", "command"),
    [
        (
            {"reason": "it waits for b3.j9 of series 32TLR"},
            {},
            "waits: it waits for b3.j9 of series 32TLR",
            "weft why b3.j9",
        ),
        (
            {"reason": "it waits for b3.j9, its own job before"},
            {},
            "waits: it waits for b3.j9, its own job before",
            "weft why b3.j9",
        ),
        (
            {"reason": "let.esa has no answer: hub answers with 503"},
            {},
            "waits: let.esa has no answer: hub answers with 503",
            None,
        ),
        (
            {"state": "refused", "reason": "env.A: there is no 'b'"},
            {},
            "is refused: env.A: there is no 'b'",
            "weft source replay scenes a",
        ),
        ({}, {"paused_at": "x"}, "waits: its source is paused", "weft source resume scenes"),
        ({}, {"error": "quota"}, "may wait for its source, which says: quota", None),
        ({"state": "new"}, {}, "was just found: its job is being made", None),
    ],
)
def test_causes_say_what_has_to_change(
    item: dict[str, Any], source: dict[str, Any], text: str, command: str | None
) -> None:
    assert _causes({**ITEM, **item}, {**SOURCE, **source})[0] == {
        "text": text,
        "command": command,
    }
