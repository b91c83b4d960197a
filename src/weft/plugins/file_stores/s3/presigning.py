"""Sign requests to S3 that obstore cannot sign: those of uploads in parts, whose query says which.

Source: "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)" of the
reference of Amazon S3. The payload is not signed, since whoever has the URL sends it.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple
from urllib.parse import quote, urlsplit

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_UNRESERVED: Final = "-_.~"


class Credentials(NamedTuple):
    """What signs."""

    key_id: str
    secret: str
    token: str | None


def presigned(
    method: str, base: str, name: str, query: Mapping[str, str], *, region: str,
    credentials: Credentials, at: datetime, valid_s: int,
) -> str:  # fmt: skip
    """Return the URL of an object below `base`, which ends with its bucket. `at`: in UTC."""
    target = urlsplit(base)
    path = f"{target.path}/{quote(name, safe=f'/{_UNRESERVED}')}"
    scope = f"{at:%Y%m%d}/{region}/s3/aws4_request"
    asked = {
        **query,
        "X-Amz-Algorithm": _ALGORITHM,
        "X-Amz-Credential": f"{credentials.key_id}/{scope}",
        "X-Amz-Date": f"{at:%Y%m%dT%H%M%SZ}",
        "X-Amz-Expires": str(valid_s),
        "X-Amz-SignedHeaders": "host",
    }
    if credentials.token is not None:
        asked["X-Amz-Security-Token"] = credentials.token
    pairs = sorted((_quoted(key), _quoted(value)) for key, value in asked.items())
    line = "&".join(f"{key}={value}" for key, value in pairs)
    request = f"{method}\n{path}\n{line}\nhost:{target.netloc}\n\nhost\nUNSIGNED-PAYLOAD"
    digest = hashlib.sha256(request.encode()).hexdigest()
    text = "\n".join([_ALGORITHM, asked["X-Amz-Date"], scope, digest])
    key = f"AWS4{credentials.secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    return f"{target.scheme}://{target.netloc}{path}?{line}&X-Amz-Signature={signature}"


def _quoted(text: str) -> str:
    return quote(text, safe=_UNRESERVED)
