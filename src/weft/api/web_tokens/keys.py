"""The keys of an issuer: given in its entry, in a file of their own, or at an address."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from joserfc.errors import JoseError

from weft.api.web_tokens.fetching import BYTES_MAX, FETCH_S, fetch
from weft.api.web_tokens.issuers import Issuer
from weft.api.web_tokens.key_sets import KeySet, KnownKey, key_of_pem, keys_in
from weft.net.threads import in_thread_of_its_own
from weft.settings.declare import InvalidSetting
from weft.telemetry.log import log

RETRY_S: Final = 5.0
"""A source is not read again for this time, whatever it said."""
PATIENCE_S: Final = 1.0
"""A token waits for this time at most until keys that are not fresh are read again."""
FILE_FRESH_S: Final = 1.0


class KeysAway(Exception):
    """No keys are known, because their source cannot be read."""


class Keys(Protocol):
    """The keys of one issuer."""

    async def find(self, key_id: str | None, algorithm: str) -> list[KnownKey]:
        """Return the keys that may have signed a token. Raise `KeysAway`."""


def keys_of(issuer: Issuer) -> Keys:
    """Return the keys of an issuer. Raise `InvalidSetting` for a key that cannot be read."""
    document = issuer.document
    try:
        if document.pem is not None:
            return FixedKeys(KeySet([("", key_of_pem(document.pem))]))
        if document.jwks_file is not None:
            path = issuer.folder / document.jwks_file
            keys_in(_read_file(path))
            return SourceKeys(
                str(path), lambda: _read_file(path), FILE_FRESH_S, document.keys_old_s
            )
    except (JoseError, ValueError, OSError) as error:
        raise InvalidSetting(
            f"the key of issuer {document.issuer} cannot be read: {error}",
            hint="A `pem` is a public key, a `jwks_file` a JSON web key set.",
        ) from error
    url = str(document.jwks_url)
    return SourceKeys(
        url, lambda: asyncio.run(fetch(url)), document.keys_fresh_s, document.keys_old_s
    )


class FixedKeys:
    """Keys that stay."""

    def __init__(self, keys: KeySet) -> None:
        self._keys = keys

    async def find(self, key_id: str | None, algorithm: str) -> list[KnownKey]:
        """Return the keys that may have signed a token."""
        return self._keys.fitting(key_id, algorithm)


class SourceKeys:
    """Keys that are read again: when they are not fresh any more, and when a token names another.

    `fresh_s`: then a token waits a little for newer ones. `old_s`: then they no longer count.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[], bytes],
        fresh_s: float,
        old_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._source = read
        self._fresh_s = fresh_s
        self._old_s = old_s
        self._clock = clock
        self._keys = KeySet()
        self._read_at = float("-inf")
        self._tried_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None

    async def find(self, key_id: str | None, algorithm: str) -> list[KnownKey]:
        """Return the keys that may have signed a token. Raise `KeysAway`."""
        if self._clock() - self._read_at > self._fresh_s:
            await self._read_again()
        if self._clock() - self._read_at > self._old_s:
            self._keys = KeySet()
            if self._reading is None or not self._reading.done():
                await self._read_again(patience_s=FETCH_S)
            if self._clock() - self._read_at > self._old_s:
                raise KeysAway
        found = self._keys.fitting(key_id, algorithm)
        if not found:
            await self._read_again()
            found = self._keys.fitting(key_id, algorithm)
        return found

    async def _read_again(self, patience_s: float = PATIENCE_S) -> None:
        """Wait a little until the source is read again, unless somebody has just tried. All who
        wait share one reading, and none ends it.
        """
        if self._reading is None or self._reading.done():
            if self._clock() - self._tried_at < min(RETRY_S, self._fresh_s):
                return
            self._tried_at = self._clock()
            self._reading = asyncio.create_task(self._read())
        await asyncio.wait({self._reading}, timeout=patience_s)

    async def _read(self) -> None:
        begun = self._clock()
        try:
            self._keys = await in_thread_of_its_own(lambda: keys_in(self._source()))
            self._read_at = begun
        except Exception as error:  # noqa: BLE001 (whatever a host sends, old keys count for a while)
            log.warning("keys.unreadable", source=self._name, why=str(error) or repr(error))


def _read_file(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        raise ValueError(f"more than {BYTES_MAX} bytes")
    return data
