"""Print how the server would run a query."""

from collections.abc import Mapping
from typing import Any

from weft.cli.terminal.plain import plain
from weft.cli.terminal.screen import print_json


def print_plan(document: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the statement and the database's plan for it."""
    if as_json:
        print_json(document)
        return
    print(plain(document["sql"]))
    print()
    for line in document["plan"]:
        print(plain(line))
