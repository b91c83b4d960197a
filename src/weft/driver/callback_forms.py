"""What a callback carries: weft's document, or that of the door through which the batch came."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from weft.core.access.door_keys import sent_key
from weft.ports.store import DueCallback


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
