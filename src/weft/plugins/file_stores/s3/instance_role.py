"""Credentials of the role of this machine, from its metadata service.

Source: "Use the Instance Metadata Service to access instance metadata" of the user guide of Amazon
EC2, version 2 of the service. obstore asks it by itself, but does not tell what it got.
"""

import os
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from typing import Final

import msgspec

from weft.core.bounded import read_json
from weft.plugins.file_stores.s3.presigning import Credentials

_ENDPOINT: Final = "http://169.254.169.254"
_ROLES: Final = "/latest/meta-data/iam/security-credentials/"
_TIMEOUT_S: Final = 5.0
_BYTES_MAX: Final = 1 << 16
_SPARE: Final = timedelta(minutes=5)
"""What is signed with them is used before they end; the service has new ones by then."""
_TOKEN_S: Final = "21600"  # noqa: S105 (a time)


class _Answer(msgspec.Struct, rename="pascal"):
    access_key_id: str
    secret_access_key: str
    token: str
    expiration: datetime


class InstanceRole:
    """Remembers the credentials until they are nearly over. It waits for the network: call it in a
    thread.
    """

    def __init__(self) -> None:
        # No proxy of the environment may see them.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._known: tuple[Credentials, datetime] | None = None

    def credentials(self) -> Credentials:
        """Return them. Raise `OSError`, `HTTPException`, `ValueError`."""
        now = datetime.now(UTC)
        if self._known is None or self._known[1] - _SPARE < now:
            asks = {"x-aws-ec2-metadata-token-ttl-seconds": _TOKEN_S}
            bears = {"x-aws-ec2-metadata-token": self._ask("PUT", "/latest/api/token", asks)}
            role = self._ask("GET", _ROLES, bears).split("\n", 1)[0].strip()
            answer = read_json(self._ask("GET", _ROLES + role, bears), _Answer)
            found = Credentials(answer.access_key_id, answer.secret_access_key, answer.token)
            self._known = found, answer.expiration
        return self._known[0]

    def _ask(self, method: str, path: str, headers: Mapping[str, str]) -> str:
        base = os.environ.get("AWS_METADATA_ENDPOINT", _ENDPOINT).rstrip("/")  # as obstore does
        request = urllib.request.Request(base + path, method=method, headers=dict(headers))  # noqa: S310 (the environment says which)
        with self._opener.open(request, timeout=_TIMEOUT_S) as answer:
            text: bytes = answer.read(_BYTES_MAX)
        return text.decode()


AWAY: Final = (OSError, HTTPException, ValueError)
"""What `credentials` raises."""
