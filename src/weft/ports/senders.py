"""The ports `callback_sender`, one POST to an untrusted receiver, and `mailer`, one message.

A sender limits a receiver's cost in time and memory, and its address. It follows no redirection
and never exposes the answer's body.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Answered:
    """The outcome of one attempt: a status, or a short reason why there is none."""

    status: int | None = None
    error: str | None = None
    location: str | None = None
    """Where a redirection leads, as the receiver said it."""
    delivered: bool | None = None
    """Whether it is kept there; None: the status says so, as that of HTTP."""
    held: bool = False
    """A check stops it, and it is not sent until a person decides."""
    rejected: bool = False
    """It was never sent, because it can never be."""


class CallbackSender(Protocol):
    """Sends callbacks."""

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answered:
        """Send once. Anything the receiver does is an answer, never an exception."""


@dataclass(frozen=True, kw_only=True)
class Mail:
    """What is mailed."""

    to: str
    name: str
    """Of the delivery: the same in each attempt, so that a reader can tell a repeat."""
    subject: str
    text: str


class Mailer(Protocol):
    """Hands in mail."""

    async def send(self, mail: Mail) -> Answered:
        """Hand in once; the status is that of SMTP. What the server does is never an exception."""
