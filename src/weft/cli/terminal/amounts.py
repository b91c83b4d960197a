"""Dates as people read them."""

from datetime import datetime


def moment(text: str | None) -> str:
    """Write a time of the api in this machine's zone."""
    if not text:
        return ""
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S")
