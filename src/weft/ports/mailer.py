"""The port `mailer`: one message to one mailbox."""

from dataclasses import dataclass
from typing import Protocol

from weft.ports.callback_sender import Answered


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
