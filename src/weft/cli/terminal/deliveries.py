"""Deliveries of callbacks and messages, as tables show them."""

from collections.abc import Mapping
from typing import Any, Final

from weft.cli.terminal.plain import cell, moment

DELIVERY: Final = ("State", "Attempts", "Answer", "Tried", "Next", "URL")


def delivery_cells(one: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what became of a delivery, under `DELIVERY`."""
    return (
        "given up" if one["state"] == "failed" else one["state"],
        one["n_attempts"],
        one["last_error"] or one["last_status"] or "",
        moment(one["tried_at"]) if one["tried_at"] else "",
        moment(one["next_at"]) if one["next_at"] else "",
        cell(one["url"], width=60),
    )
