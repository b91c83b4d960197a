"""What a callback carries: weft's document, or Hail's for a batch that Hail's client created."""

from typing import Final, NamedTuple

import msgspec

from weft.core.hail_summaries import KEY_MARK, callback_document

_KEY: Final = "hail_key"


class CallbackBody(NamedTuple):
    """The bytes to send."""

    data: bytes
    once: bool
    """Whether the receiver gets it once at most, whatever it answers."""


def body_of(stored: str) -> CallbackBody:
    """Return what is sent for a stored document."""
    if _KEY not in stored:
        return CallbackBody(stored.encode(), once=False)
    document = msgspec.json.decode(stored, type=dict)
    key = document.pop(_KEY, None)
    if key is None:  # an attribute of this name
        return CallbackBody(stored.encode(), once=False)
    found = callback_document(document, key.removeprefix(KEY_MARK))
    return CallbackBody(msgspec.json.encode(found), once=True)
