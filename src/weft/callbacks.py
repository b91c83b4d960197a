"""For receivers of callbacks: `verify` says whether a request comes from weft, and returns it.

    from weft.callbacks import CallbackNotGenuine, verify

    callback = verify(SECRET, request.headers, request.body)

It needs nothing of weft but this module and `weft.core`; docs/guides/callbacks.md says how to do
the same in another language.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from weft.core.deliveries.callback_signature import (
    DELIVERY_HEADER,
    SIGNATURE_HEADER,
    TOLERANCE_S,
    refusal,
)
from weft.core.errors import Unauthenticated

__all__ = ["Callback", "CallbackNotGenuine", "verify"]


class CallbackNotGenuine(Unauthenticated, code="CALLBACK.NOT_GENUINE"):
    """The request was not sent by weft, or is too old: answer it with 401 and do nothing."""


@dataclass(frozen=True)
class Callback:
    """A genuine callback."""

    delivery: str
    """The same in every attempt: what was seen before is a repetition."""
    document: Mapping[str, Any]
    """The status of the batch or group when it was complete."""


def verify(
    secret: str | Sequence[str],
    headers: Mapping[str, str],
    body: bytes,
    tolerance_s: float = TOLERANCE_S,
    *,
    now: float | None = None,
) -> Callback:
    """Return the callback in a request. Raise `CallbackNotGenuine` if it is not one of ours.

    `secret`: what `weft callback secret` prints; several while it is being changed. `headers`: in
    any case. `body`: the bytes as they came, before anything has read them as JSON. A request
    signed more than `tolerance_s` ago is refused, because somebody may have kept it. `now`:
    seconds since 1970, for tests.
    """
    given = {name.lower(): value for name, value in headers.items()}
    delivery = given.get(DELIVERY_HEADER.lower())
    why = refusal(
        [secret] if isinstance(secret, str) else secret,
        given.get(SIGNATURE_HEADER.lower()),
        delivery,
        body,
        now=time.time() if now is None else now,
        tolerance_s=tolerance_s,
    )
    if why is not None or delivery is None:
        raise CallbackNotGenuine(
            "the request is not a callback of weft",
            detail=why or "",
            hint="Compare the secret with `weft callback secret` and the clock with the right "
            "time; pass the body as it came.",
        )
    return Callback(delivery, msgspec.json.decode(body))
