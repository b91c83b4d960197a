"""The port `callback_sender`: one POST to a receiver that nobody here trusts.

A sender bounds what a receiver can cost: time, memory, and where it may be. It follows no
redirection and shows nothing of the answer's body to anybody.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Answered:
    """What became of one attempt: a status, or in a few words why there is none."""

    status: int | None = None
    error: str | None = None


class CallbackSender(Protocol):
    """What sends callbacks."""

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answered:
        """Send once. Whatever the receiver does is an answer, never an exception."""
