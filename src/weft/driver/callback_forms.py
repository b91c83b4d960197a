"""What a callback carries – weft's document, or that of the door through which the batch came –,
and what doors tell subscriptions of their jobs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from weft.core.access.token_text import sent_key
from weft.ports.store import DueCallback, Row


@dataclass(frozen=True, kw_only=True)
class CallbackForm:
    """The callbacks of batches that came through a door."""

    document: Callable[[Mapping[str, Any], str], Any]
    """From weft's document of a batch or a group, and the key with which the batch was created
    (empty: none), to what is sent as JSON.
    """
    once: bool = False
    """Whether the receiver gets it once at most, whatever it answers."""


class CallbackBody(NamedTuple):
    """The bytes to send, and whether they are sent once at most."""

    data: bytes
    once: bool


def body_of(due: DueCallback, forms: Mapping[str, CallbackForm]) -> CallbackBody:
    """Return what is sent. `forms`: by door; without one, weft's document is sent."""
    form = None if due.door is None else forms.get(due.door)
    if due.door is None or form is None:
        return CallbackBody(due.body.encode(), once=False)
    key = sent_key(due.door, due.key or "")
    found = form.document(msgspec.json.decode(due.body, type=dict), key)
    return CallbackBody(msgspec.json.encode(found), once=form.once)


@dataclass(frozen=True, kw_only=True)
class Notice:
    """One event of a job, for one subscription."""

    subscription_id: int
    key: str
    """Which event: the same whenever the job is looked at."""
    url: str
    body: str


@dataclass(frozen=True, kw_only=True)
class NoticeForm:
    """The notices of jobs that came through a door."""

    notices: Callable[[Row, Sequence[Row], tuple[str, ...]], Iterable[Notice]]
    """From what the store knows of a job, its subscriptions (`Notified.jobs`) and names of values
    that nobody is shown, to what is to be sent and is not recorded yet, in order.
    """
    headers: Callable[[str, str], Mapping[str, str]]
    """Of a request, from the names of delivery and subscription."""
    mail: Callable[[bytes], tuple[str, str]]
    """Subject and text of a notice that is mailed, from its body."""
