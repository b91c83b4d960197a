"""Costs and dates as people read them."""

from datetime import datetime

CENT = 0.01


def money(amount: float | None) -> str:
    """Write a cost as people do: `0`, `< 0.01`, `1,234.50`."""
    if not amount:
        return "0"
    return f"{amount:,.2f}" if amount >= CENT else f"< {CENT}"


def moment(text: str | None) -> str:
    """Write a time of the api in this machine's zone."""
    if not text:
        return ""
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S")
