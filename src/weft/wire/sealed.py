"""Secrets as they are stored: encrypted by the api that takes them, opened by the agent that
starts a job with them (ADR 54). Only this module knows the form.

    1 byte     form: 1
    8 bytes    id of the key: the beginning of its SHA-256
    12 bytes   nonce
    the rest   AES-256-GCM of the value, bound to its tenant, user and name

So a value that is moved to another row cannot be opened.
"""

import base64
import binascii
import hashlib
import hmac
import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from urllib.parse import quote

from weft.core.deliveries.credentials import SECRET
from weft.core.errors import SecretKeyMissing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_FORM: Final = b"\x01"
_ID_BYTES: Final = 8
_NONCE_BYTES: Final = 12
_HEAD_BYTES: Final = len(_FORM) + _ID_BYTES
_KEY_BYTES: Final = 32
FOLDED_CHARS: Final = 6
"""A shorter value is a word of any answer."""


class SecretRow(NamedTuple):
    """Where a secret is stored, which its value is bound to."""

    tenant_id: int
    user_id: int
    name: str


class OpensSecrets(Protocol):
    """Whoever opens what is encrypted."""

    def open(self, body: bytes, row: SecretRow) -> str:
        """Decrypt. Raise `SecretKeyMissing`, and `ValueError` if it cannot be opened."""


class SecretKeys:
    """The keys of an installation. The first encrypts; each of them decrypts what it encrypted."""

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        self._keys = {_id_of(key): key for key in keys}
        self._ids = [_id_of(key) for key in keys]

    @property
    def current(self) -> bytes:
        """Return the id of the first key. Raise `SecretKeyMissing` if there is none."""
        return self._ids[0] if self._ids else _id_of(self._key(b""))

    def seal(self, value: str, row: SecretRow) -> bytes:
        """Encrypt. Raise `SecretKeyMissing` if there is no key."""
        nonce = os.urandom(_NONCE_BYTES)
        cipher = cipher_of(self._key(self.current))
        return _FORM + self.current + nonce + cipher.encrypt(nonce, value.encode(), bound_to(row))

    def open(self, body: bytes, row: SecretRow) -> str:
        """Decrypt. Raise `SecretKeyMissing` if the key is not here, `ValueError` if the value was
        changed, moved, or is of a later form.
        """
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 (see cipher_of)

        if body[:1] != _FORM:
            raise ValueError("it is stored in a form of another release")
        cipher = cipher_of(self._key(key_id_of(body)))
        nonce, rest = body[_HEAD_BYTES:][:_NONCE_BYTES], body[_HEAD_BYTES + _NONCE_BYTES :]
        try:
            return cipher.decrypt(nonce, rest, bound_to(row)).decode()
        except InvalidTag:
            raise ValueError("it was changed or moved in the database") from None

    def derived(self, key_id: bytes, purpose: bytes) -> bytes:
        """Return a key that is good for one purpose only. Raise `SecretKeyMissing`."""
        return hmac.digest(self._key(key_id), purpose, "sha256")

    def _key(self, key_id: bytes) -> bytes:
        key = self._keys.get(key_id)
        if key is None:
            raise SecretKeyMissing(
                f"the key {key_id.hex()} of a secret is not here"
                if key_id
                else "there is no key for secrets here",
                detail=f"Known are: {', '.join(one.hex() for one in self._keys)}."
                if self._keys
                else "Neither the setting `secret_keys` nor the home has one.",
            )
        return key


def parse_keys(text: str) -> tuple[bytes, ...]:
    """Read keys: 32 bytes each in base64, between commas or spaces, the newest first. Raise
    `ValueError`, which does not repeat the text.
    """
    words = text.replace(",", " ").split()
    keys = tuple(map(_key_of, words))
    if not keys:
        raise ValueError("it holds no key")
    return keys


def new_key() -> str:
    """Return a new key as text."""
    return base64.b64encode(os.urandom(_KEY_BYTES)).decode()


def key_id_of(body: bytes) -> bytes:
    """Return the id of the key that encrypted a value."""
    return body[len(_FORM) : _HEAD_BYTES]


def _key_of(word: str) -> bytes:
    try:
        key = base64.b64decode(word, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != _KEY_BYTES:
        raise ValueError(f"a key is {_KEY_BYTES} bytes in base64")
    return key


def _id_of(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()[:_ID_BYTES]


def bound_to(row: SecretRow) -> bytes:
    """Return what the value of this row is bound to."""
    return f"{row.tenant_id}/{row.user_id}/{row.name}".encode()


def cipher_of(key: bytes) -> "AESGCM":
    """Return what encrypts and decrypts with a key."""
    # Loaded when it is needed: that takes 40 ms.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    return AESGCM(key)


class Opened(NamedTuple):
    """Options with the secrets that they name, and each value by what stood for it."""

    options: Mapping[str, Any]
    values: Mapping[str, str]


def opened(
    options: Mapping[str, Any], sealed: Mapping[str, Any] | None, keys: OpensSecrets
) -> Opened:
    """Return options of a source or sink with the secrets that they name. `sealed`: as
    `weft._secrets_of` gives them. Raise `SecretKeyMissing`, and `ValueError` if one is not there
    or cannot be opened.
    """
    values: dict[str, str] = {}
    if sealed is None:
        return Opened(options, values)

    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        if match[0] not in values:
            body = sealed["bodies"].get(name)
            if body is None:
                raise ValueError(f"its owner has no secret {name}")
            row = SecretRow(sealed["tenant_id"], sealed["user_id"], name)
            try:
                values[match[0]] = keys.open(base64.b64decode(body), row)
            except ValueError as error:
                raise ValueError(f"the secret {name} cannot be opened: {error}") from None
        return values[match[0]]

    def filled(one: Any, *, is_url: bool) -> Any:  # noqa: ANN401 (any JSON)
        if isinstance(one, str):
            return SECRET.sub(
                lambda match: quote(value_of(match), safe="") if is_url else value_of(match), one
            )
        if isinstance(one, Mapping):
            return {name: filled(value, is_url=False) for name, value in one.items()}
        return [filled(value, is_url=False) for value in one] if isinstance(one, list) else one

    return Opened(
        {name: filled(value, is_url=name == "url") for name, value in options.items()}, values
    )


def opened_link(text: Any, values: Mapping[str, str]) -> Any:  # noqa: ANN401 (any JSON)
    """Return a link of an answer that was `folded`, as it was; anything else as it is."""
    if not isinstance(text, str):
        return text
    return SECRET.sub(lambda match: quote(values.get(match[0], match[0]), safe="${}."), text)


def folded(answer: Any, values: Mapping[str, str]) -> Any:  # noqa: ANN401 (any JSON)
    """Return what somebody said, with what stood for the secrets that they were told."""
    if isinstance(answer, str):
        for name, value in values.items():
            if len(value) >= FOLDED_CHARS:
                answer = answer.replace(value, name).replace(quote(value, safe=""), name)
        return answer
    if isinstance(answer, Mapping):
        return {folded(name, values): folded(one, values) for name, one in answer.items()}
    return [folded(one, values) for one in answer] if isinstance(answer, list) else answer
