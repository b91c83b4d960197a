"""Credentials of the role of this machine, from its metadata service.

Source: "Use the Instance Metadata Service to access instance metadata" of the user guide of Amazon
EC2, version 2 of the service. obstore asks it by itself, but does not tell what it got.
"""

import asyncio
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from weft.core.bounded import read_json
from weft.core.deliveries.callback_url import parse_target
from weft.net.failures import NetFailure
from weft.net.foreign_http import ANYWHERE, ForeignHttp
from weft.plugins.file_stores.s3.presigning import Credentials

_ENDPOINT: Final = "http://169.254.169.254"
_ROLES: Final = "/latest/meta-data/iam/security-credentials/"
WITHIN_S: Final = 5.0
_OK: Final = 200
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
        self._known: tuple[Credentials, datetime] | None = None

    def credentials(self) -> Credentials:
        """Return them. Raise `NetFailure`, `ValueError`."""
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
        http = ForeignHttp(ANYWHERE, WITHIN_S, WITHIN_S)
        target = parse_target(base + path)
        answer = asyncio.run(http.answer(method, target, headers.items(), bytes_max=_BYTES_MAX))
        if answer.head.status != _OK:
            raise ValueError(f"it answers with {answer.head.status}")
        return answer.body.decode()


AWAY: Final = (NetFailure, ValueError)
"""What `credentials` raises."""
