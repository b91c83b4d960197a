"""The keys of an issuer: given in the file, in a file of their own, or at an address."""

import asyncio
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from joserfc import jwk
from joserfc.errors import JoseError

from weft.api.web_tokens.issuers import Issuer, IssuerDocument
from weft.settings.declare import InvalidSetting
from weft.telemetry.log import get_logger

Key = jwk.RSAKey | jwk.ECKey | jwk.OKPKey
ALGORITHMS_OF: Final[Mapping[type, Collection[str]]] = {
    jwk.RSAKey: ("RS256",),
    jwk.ECKey: ("ES256",),
    jwk.OKPKey: ("Ed25519", "EdDSA"),  # two names of one: RFC 9864 prefers the first
}
JWKS_BYTES_MAX: Final = 1 << 20
FETCH_S: Final = 5.0
RETRY_S: Final = 5.0
"""An address is not asked again for this time, whatever it said."""
RSA_BITS_MIN: Final = 2048
log = get_logger()


class Keys(Protocol):
    """The keys of one issuer."""

    async def find(self, key_id: str | None) -> Key | None:
        """Return the key of this id, or the only one there is; None: there is no such."""


def keys_of(issuer: Issuer) -> Keys:
    """Return the keys of an issuer. Raise `InvalidSetting` for a key that cannot be read."""
    document = issuer.document
    try:
        if document.pem is not None:
            return FixedKeys({"": key_of_pem(document.pem)})
        if document.jwks_file is not None:
            return FileKeys(issuer.folder / document.jwks_file)
    except (JoseError, ValueError, OSError) as error:
        raise InvalidSetting(
            f"the key of issuer {document.issuer} cannot be read: {error}",
            hint="A `pem` is a public key, a `jwks_file` a JSON web key set.",
        ) from error
    return UrlKeys(document)


def key_of_pem(text: str) -> Key:
    """Return a public key. Raise `ValueError`."""
    for kind in (jwk.RSAKey, jwk.ECKey, jwk.OKPKey):
        try:
            key: Key = kind.import_key(text)
        except (JoseError, ValueError, TypeError):
            continue
        return _checked(key)
    raise ValueError("not the PEM of an RSA, P-256 or Ed25519 public key")


def keys_in(text: bytes) -> dict[str, Key]:
    """Return the keys of a JSON web key set by their ids; kinds that nobody here can use are left
    out. Raise `ValueError` for what is not such a set.
    """
    document = msgspec.json.decode(text)
    if not isinstance(document, dict) or not isinstance(document.get("keys"), list):
        raise ValueError("not a JSON web key set")
    found: dict[str, Key] = {}
    for one in document["keys"]:
        if not isinstance(one, dict) or one.get("use", "sig") != "sig":
            continue
        try:
            key = jwk.import_key(one)
            if isinstance(key, jwk.RSAKey | jwk.ECKey | jwk.OKPKey):
                found[str(one.get("kid", ""))] = _checked(key)
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    if not found:
        raise ValueError("the key set has no RSA, P-256 or Ed25519 key")
    return found


def _checked(key: Key) -> Key:
    """Raise `ValueError` for a key that is too weak, or of a curve that no algorithm here has."""
    public: Any = key.raw_value
    if isinstance(key, jwk.RSAKey):
        if public.key_size < RSA_BITS_MIN:
            raise ValueError(f"an RSA key has at least {RSA_BITS_MIN} bits")
    elif key.curve_name not in {"P-256", "Ed25519"}:
        raise ValueError(f"curve {key.curve_name} is not P-256 or Ed25519")
    return key


class FixedKeys:
    """Keys that stay."""

    def __init__(self, keys: Mapping[str, Key]) -> None:
        self._keys = keys

    async def find(self, key_id: str | None) -> Key | None:
        """Return the key of this id, or the only one there is."""
        return _find(self._keys, key_id)


class FileKeys:
    """The keys of a file, which is read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._changed = path.stat().st_mtime_ns
        self._keys = keys_in(path.read_bytes())

    async def find(self, key_id: str | None) -> Key | None:
        """Return the key of this id, or the only one there is."""
        try:
            changed = self._path.stat().st_mtime_ns
            if changed != self._changed:
                self._keys = keys_in(self._path.read_bytes())
                self._changed = changed
        except (OSError, ValueError) as error:
            log.warning("keys.unreadable", source=str(self._path), why=str(error))
        return _find(self._keys, key_id)


class UrlKeys:
    """The keys at an address: read again in the background, or when a token names another."""

    def __init__(
        self,
        document: IssuerDocument,
        clock: Callable[[], float] = time.monotonic,
        fetch: Callable[[str], bytes] | None = None,
    ) -> None:
        self._document = document
        self._clock = clock
        self._fetch = fetch or fetch_keys
        self._keys: Mapping[str, Key] = {}
        self._read_at = float("-inf")
        self._tried_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None

    async def find(self, key_id: str | None) -> Key | None:
        """Return the key of this id, or the only one there is. A key that was read too long ago is
        none.
        """
        age = self._clock() - self._read_at
        if age > self._document.keys_old_s:
            self._keys = {}
        if age > self._document.keys_fresh_s:
            self._begin_reading()
        key = _find(self._keys, key_id)
        if key is None:
            self._begin_reading()
            if self._reading is not None:
                await asyncio.shield(self._reading)
            key = _find(self._keys, key_id)
        return key

    def _begin_reading(self) -> None:
        """Read the keys, unless somebody does or has just tried."""
        if self._reading is not None and not self._reading.done():
            return
        self._reading = None
        if self._clock() - self._tried_at >= RETRY_S:
            self._tried_at = self._clock()
            self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        url = str(self._document.jwks_url)
        try:
            async with asyncio.timeout(2 * FETCH_S):
                self._keys = keys_in(await asyncio.to_thread(self._fetch, url))
            self._read_at = self._clock()
        except (OSError, HTTPException, ValueError, TimeoutError) as error:
            log.warning("keys.unreadable", source=url, why=str(error) or type(error).__name__)


def _find(keys: Mapping[str, Key], key_id: str | None) -> Key | None:
    if key_id is not None and key_id in keys:
        return keys[key_id]
    # Without ids there is nothing to confuse: a single key serves whatever the token says.
    return next(iter(keys.values())) if len(keys) == 1 and (key_id is None or "" in keys) else None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An address that leads elsewhere is not the one that was configured."""

    def redirect_request(self, *_: object) -> None:
        """Follow to nowhere."""


def fetch_keys(url: str) -> bytes:
    """Return what is at an address. Raise `OSError`, `ValueError` if it is too slow or large."""
    deadline = time.monotonic() + FETCH_S
    opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler())
    with opener.open(url, timeout=FETCH_S) as answer:
        parts: list[bytes] = []
        size = 0
        while part := answer.read1(1 << 16):
            size += len(part)
            parts.append(part)
            if size > JWKS_BYTES_MAX:
                raise ValueError(f"more than {JWKS_BYTES_MAX} bytes")
            if time.monotonic() > deadline:
                raise ValueError(f"took longer than {FETCH_S:g} s")
        return b"".join(parts)
