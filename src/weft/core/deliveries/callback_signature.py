"""How callbacks are signed: HMAC-SHA256 over time, delivery and body (docs/guides/callbacks.md).

A deployment has one key. The secret of each tenant is derived from it, so that a tenant who knows
its own secret cannot forge another's callbacks.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from functools import lru_cache

SIGNATURE_HEADER = "Weft-Signature"
DELIVERY_HEADER = "Weft-Delivery"
TOLERANCE_S = 300.0
_PARTS_MAX = 16
_TIME = re.compile(r"[0-9]{1,12}")


@lru_cache(maxsize=1024)
def tenant_secret(key: str, tenant_id: int) -> str:
    """Return the secret of one tenant's callbacks."""
    told = f"weft callbacks of tenant {tenant_id}"
    return "weftcb_" + hmac.new(key.encode(), told.encode(), hashlib.sha256).hexdigest()


def sign(secret: str, *, sent_at: int, delivery: str, body: bytes) -> str:
    """Return the header `Weft-Signature` of one request. `sent_at`: seconds since 1970."""
    return f"t={sent_at},v1={_digest(secret, str(sent_at), delivery, body)}"


def refusal(
    secrets: Iterable[str],
    signature: str | None,
    delivery: str | None,
    body: bytes,
    *,
    now: float,
    tolerance_s: float,
) -> str | None:
    """Return why a request is not genuine, or None. Any of `secrets` may have signed it.

    The signature is compared before the time is looked at, each in constant time.
    """
    if signature is None or delivery is None:
        return f"One of the headers {SIGNATURE_HEADER} and {DELIVERY_HEADER} is missing."
    parts = [part.strip().partition("=") for part in signature.split(",")[:_PARTS_MAX]]
    times = [value for name, _, value in parts if name == "t"]
    given = [value for name, _, value in parts if name == "v1"]
    if len(times) != 1 or not _TIME.fullmatch(times[0]) or not given:
        return f"The header {SIGNATURE_HEADER} is malformed: expected t=TIME,v1=DIGEST."
    wanted = [_digest(secret, times[0], delivery, body) for secret in secrets]
    good = [
        hmac.compare_digest(one.encode(), other.encode(errors="replace"))
        for one in wanted
        for other in given
    ]
    if not any(good):
        return "The signature is of another secret, or body, time or delivery were changed."
    age_s = now - int(times[0])
    if abs(age_s) > tolerance_s:
        return f"It was signed {age_s:.0f} s ago, and at most {tolerance_s:g} s are accepted."
    return None


def _digest(secret: str, sent_at: str, delivery: str, body: bytes) -> str:
    signed = f"{sent_at}.{delivery}.".encode() + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
