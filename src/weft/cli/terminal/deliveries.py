"""Deliveries of callbacks and messages, as tables show them."""

from typing import Final

from weft.cli.terminal.screen import Columns, at, long_text

DELIVERY: Final[Columns] = {
    "State": lambda row: row["state"].replace("_", " "),
    "Attempts": "n_attempts",
    "Answer": lambda row: row["last_error"] or row["last_status"] or "",
    "Tried": at("tried_at"),
    "Next": at("next_at"),
    "URL": long_text("url", 60),
}
"""What became of a delivery."""
