"""Sign URLs for objects: nothing is asked of the store for that.

obstore would read the environment for all that it is not given, so it is given all: else an
operator of a tenant could use the credentials of the process.

Requests that obstore cannot sign are signed here: those of uploads in parts, whose query says
which. Source: "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)" of the
reference of Amazon S3. The payload is not signed, since whoever has the URL sends it.
"""

import asyncio
import hashlib
import hmac
import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import quote, urlsplit

import msgspec

from weft.core.bounded import read_json
from weft.core.deliveries.callback_url import parse_target
from weft.core.errors import WeftError
from weft.core.files.file_stores import parse_bucket
from weft.core.states import AttemptKey
from weft.net.failures import NetFailure
from weft.net.foreign_http import ANYWHERE, ForeignHttp
from weft.ports.file_store import Method, Signed, ToSign
from weft.ports.store import StoredFileStore
from weft.wire.sealed import OpensSecrets, SecretKeys

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_UNRESERVED: Final = "-_.~"


class Credentials(NamedTuple):
    """What signs."""

    key_id: str
    secret: str
    token: str | None


def presigned(
    method: str,
    base: str,
    name: str,
    query: Mapping[str, str],
    *,
    region: str,
    credentials: Credentials,
    at: datetime,
    valid_s: int,
) -> str:
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


VALID_S: Final = 3600
"""A transfer begins within that time; it may take longer."""
KEY_BYTES_MAX: Final = 1024
REGION: Final = "us-east-1"
_PARTS: Final = (2, 3)
_ENVIRONMENT: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


class NotSigned(Exception):
    """Why there is no URL, for the owner of the job."""

    def __init__(self, message: str, *, is_away: bool = False) -> None:
        super().__init__(message)
        self.is_away = is_away


class FindsStores(Protocol):
    """The part of the store that is asked."""

    async def find_stores(
        self, incarnation_id: int, key: AttemptKey, names: Sequence[str]
    ) -> Sequence[StoredFileStore | None]:
        """See `WorkerStore`."""


class StoreSigner:
    """Signs with the secrets of tenants, and for the buckets of `store_buckets` with what this
    process or its machine has.
    """

    def __init__(
        self, find_store: Callable[[], FindsStores], keys: Callable[[], SecretKeys], buckets: str
    ) -> None:
        self._find_store = find_store
        self._urls = ObjectUrls(keys, buckets)

    async def sign(
        self, incarnation_id: int, key: AttemptKey, wanted: Sequence[ToSign]
    ) -> Sequence[Signed]:
        """Return a URL for each."""
        names = sorted({one.store for one in wanted})
        rows = await self._find_store().find_stores(incarnation_id, key, names)
        stores = dict(zip(names, rows, strict=False))  # none: the worker lost the attempt
        return [await self._signed(one, stores.get(one.store)) for one in wanted]

    async def _signed(self, one: ToSign, store: StoredFileStore | None) -> Signed:
        if store is None:
            return Signed("", f"there is no store {one.store!r}")
        if not one.is_read and store.access != "write":
            return Signed("", f"nothing is written to store {one.store!r}")
        try:
            if one.upload or one.method == "POST":
                return Signed(await asyncio.to_thread(self._urls.part_url, store, one))
            return Signed(await self._urls.url_of(one.method, store, one.path))
        except NotSigned as error:
            return Signed("", str(error), error.is_away)


class ObjectUrls:
    """Makes URLs with the secrets of tenants and, for `buckets`, with what this process has."""

    def __init__(self, keys: Callable[[], OpensSecrets], buckets: str) -> None:
        self._keys = keys
        self._buckets = frozenset(part for part in re.split(r"[\s,]+", buckets) if part)
        self._role = InstanceRole()

    async def url_of(self, method: Method, store: StoredFileStore, path: str) -> str:
        """Return the URL of one object. Raise `NotSigned`."""
        name, opened = _name_of(store, path), self.open(store)
        try:
            import obstore  # noqa: PLC0415 (an extra)

            url: str = await obstore.sign_async(opened, method, name, timedelta(seconds=VALID_S))
        except Exception as error:  # whatever it is, it says nothing of the credentials
            raise _no_credentials(error) from error
        else:
            return url

    def part_url(self, store: StoredFileStore, one: ToSign) -> str:
        """Return the URL for a step of an upload in parts; call it in a thread, since it may ask
        the machine for credentials. Raise `NotSigned`.
        """
        bucket = parse_bucket(store.url).name
        credentials = self._credentials(store, bucket)
        if credentials is None:
            try:
                credentials = self._role.credentials()
            except AWAY as error:
                raise _no_credentials(error) from error
        query = {"uploadId": one.upload} if one.upload else {"uploads": ""}
        if one.part:
            query["partNumber" if one.method == "PUT" else "part-number-marker"] = f"{one.part}"
        return presigned(
            one.method,
            f"{_endpoint_of(store)}/{bucket}",
            _name_of(store, one.path),
            query,
            region=store.region or REGION,
            credentials=credentials,
            at=datetime.now(UTC),
            valid_s=VALID_S,
        )

    def list_url(self, store: StoredFileStore, prefix: str, after: str, n: int) -> str:
        """Return the URL for a page of the list of objects whose paths begin with `prefix`:
        `n` at most, those whose names in the bucket come after `after`. Raise `NotSigned`.
        """
        query = {
            "list-type": "2",
            "encoding-type": "url",
            "prefix": _name_of(store, prefix),
            "max-keys": f"{n}",
            **({"start-after": after} if after else {}),
        }
        bucket = parse_bucket(store.url).name
        credentials = self._credentials(store, bucket)
        if credentials is None:
            raise NotSigned("with the role of its machine, no objects are listed")
        return presigned(
            "GET",
            f"{_endpoint_of(store)}/{bucket}",
            "",
            query,
            region=store.region or REGION,
            credentials=credentials,
            at=datetime.now(UTC),
            valid_s=VALID_S,
        )

    def open(self, store: StoredFileStore) -> Any:  # noqa: ANN401 (of an extra)
        """Return the bucket as obstore knows it. Raise `NotSigned`."""
        bucket = parse_bucket(store.url)
        options: dict[str, Any] = {  # of obstore
            "endpoint": _endpoint_of(store),
            "region": store.region or REGION,
            "virtual_hosted_style_request": False,
            "skip_signature": False,
            "client_options": {"allow_http": True, "timeout": "30s", "connect_timeout": "5s"},
            "retry_config": {"max_retries": 2, "retry_timeout": timedelta(seconds=30)},
        }
        if (credentials := self._credentials(store, bucket.name)) is not None:
            given = {
                "access_key_id": credentials.key_id,
                "secret_access_key": credentials.secret,
                "token": credentials.token,
                "expires_at": None,
            }
            options["credential_provider"] = lambda: given
        try:
            from obstore.store import S3Store  # noqa: PLC0415 (an extra)
        except ImportError as error:
            raise NotSigned(
                "this host has no obstore, which opens stores: install the extra `weft[s3]`",
                is_away=True,
            ) from error
        try:
            return S3Store(bucket.name, **options)
        except Exception as error:  # as below
            raise _no_credentials(error) from error

    def _credentials(self, store: StoredFileStore, bucket: str) -> Credentials | None:
        """Return what signs; None: what the machine has. Raise `NotSigned`."""
        if store.credentials != "secret":
            if not {bucket, "*"} & self._buckets:
                raise NotSigned(
                    f"the setting store_buckets does not let bucket {bucket!r} be reached with "
                    "credentials of the host"
                )
            if store.credentials == "instance-role":
                return None
            parts: Sequence[str] = [os.environ.get(name, "") for name in _ENVIRONMENT]
            if not all(parts[:2]):
                raise NotSigned("the environment of this process has no credentials of AWS")
        elif store.body is None:
            raise NotSigned("the secret that opens its store was removed")
        else:
            parts = self._opened(store).strip().split(":", 2)
            if len(parts) not in _PARTS or not all(parts):
                raise NotSigned("the secret that opens its store is not KEY_ID:SECRET_KEY")
        token = parts[2] if len(parts) == _PARTS[1] and parts[2] else None
        return Credentials(parts[0], parts[1], token)

    def _opened(self, store: StoredFileStore) -> str:
        assert store.body is not None
        assert store.row is not None
        try:
            return self._keys().open(store.body, store.row)
        except (WeftError, ValueError) as error:
            why = "the secret that opens its store cannot be decrypted on this host"
            raise NotSigned(why, is_away=True) from error


def _endpoint_of(store: StoredFileStore) -> str:
    usual = f"https://s3.{store.region or REGION}.amazonaws.com"
    return (store.endpoint or usual).rstrip("/")


def _name_of(store: StoredFileStore, path: str) -> str:
    """Return the name of an object in its bucket. Raise `NotSigned`."""
    name = parse_bucket(store.url).prefix + path
    if len(name.encode()) > KEY_BYTES_MAX or not name.isprintable():
        raise NotSigned(f"no object has such a name, or more than {KEY_BYTES_MAX} bytes of it")
    return name


def _no_credentials(error: Exception) -> NotSigned:
    return NotSigned(f"its credentials cannot be had ({type(error).__name__})", is_away=True)


# Source: "Use the Instance Metadata Service to access instance metadata" of the user guide of
# Amazon EC2, version 2 of the service. obstore asks it by itself, but does not tell what it got.

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
    """Remembers credentials until they are nearly over. It waits for the network: use a thread."""

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
