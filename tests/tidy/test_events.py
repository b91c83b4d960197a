"""The catalogue of log events agrees with the code."""

import ast
import re
from pathlib import Path

from tidy.source_files import ROOT, nodes_of, product_files, relative

LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
_NAME = re.compile(r"[a-z_]+(\.[a-z_]+)+")
_LINE = re.compile(r"\| `([^`]*)` \| (.{10,}) \| .*\|")
EVENTS = dict(_LINE.findall((ROOT / "docs/log-events.md").read_text()))


def _logged_names(path: Path) -> list[str]:
    """Return the names in calls such as `log.info("role.started")`, also those chosen by `if`."""
    names = []
    for node in nodes_of(path, ast.Call):
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in LEVELS:
            continue
        owner = ast.unparse(node.func.value)
        if owner.split(".")[-1] in {"log", "_log"}:
            names += [
                part.value
                for argument in node.args[:2]
                for part in ast.walk(argument)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
    return names


def test_every_logged_event_is_declared() -> None:
    undeclared = [
        f"{relative(path)}: {name}"
        for path in product_files().values()
        for name in _logged_names(path)
        if name not in EVENTS
    ]

    assert undeclared == []


def test_every_declared_event_is_logged() -> None:
    texts = {
        node.value
        for path in product_files().values()
        for node in nodes_of(path, ast.Constant)
        if isinstance(node.value, str)
    }

    assert sorted(EVENTS.keys() - texts) == []


def test_every_event_has_a_past_tense_name_and_a_sentence() -> None:
    assert [name for name in EVENTS if not _NAME.fullmatch(name)] == []
    assert [name for name, text in EVENTS.items() if len(text) < 10] == []
