"""Secrets on their way to a worker outside: sealed for the key that it has made for its link, so
that what ends TLS between the two reads none (ADR 125). Only this module knows the form.

    1 byte     form: 2
    32 bytes   X25519 key of the sender, made for one answer
    12 bytes   nonce
    the rest   AES-256-GCM of the value, bound to its tenant, user and name
"""

import os
from functools import cached_property
from typing import TYPE_CHECKING, Final

from weft.wire.sealed import SecretRow, bound_to, cipher_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

_FORM: Final = b"\x02"
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_HEAD_BYTES: Final = len(_FORM) + _KEY_BYTES + _NONCE_BYTES
_PURPOSE: Final = b"weft: secrets for a worker outside"


class LinkKey:
    """The key of one worker for its link: it is never written, and ends with the process."""

    @cached_property
    def _private(self) -> "X25519PrivateKey":
        # Loaded when it is needed: that takes 40 ms.
        from cryptography.hazmat.primitives.asymmetric import x25519  # noqa: PLC0415

        return x25519.X25519PrivateKey.generate()

    @property
    def public(self) -> bytes:
        """Return the half that the other end seals with."""
        return self._private.public_key().public_bytes_raw()

    def open(self, body: bytes, row: SecretRow) -> str:
        """Decrypt. Raise `ValueError` if the value was changed, or is for somebody else."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 (see _private)

        if body[:1] != _FORM or len(body) < _HEAD_BYTES:
            raise ValueError("it came in a form of another release")
        sender, nonce = body[1:][:_KEY_BYTES], body[1 + _KEY_BYTES : _HEAD_BYTES]
        key = _shared(self._private, sender, sender + self.public)
        try:
            return cipher_of(key).decrypt(nonce, body[_HEAD_BYTES:], bound_to(row)).decode()
        except InvalidTag:
            raise ValueError("it was changed on the way, or sealed for another worker") from None


class LinkSealer:
    """Seals values of one answer for the key of a worker."""

    def __init__(self, public: bytes) -> None:
        """Raise `ValueError` if this is no key."""
        own = LinkKey()
        self._head = _FORM + own.public
        self._cipher = cipher_of(_shared(own._private, public, own.public + public))  # noqa: SLF001

    def seal(self, value: str, row: SecretRow) -> bytes:
        """Encrypt."""
        nonce = os.urandom(_NONCE_BYTES)
        return self._head + nonce + self._cipher.encrypt(nonce, value.encode(), bound_to(row))


def _shared(private: "X25519PrivateKey", public: bytes, both: bytes) -> bytes:
    """Return the key that only the two ends can know; `both`: their public halves."""
    from cryptography.hazmat.primitives.asymmetric import x25519  # noqa: PLC0415 (see LinkKey)
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    secret = private.exchange(x25519.X25519PublicKey.from_public_bytes(public))
    return HKDF(SHA256(), _KEY_BYTES, salt=None, info=_PURPOSE + both).derive(secret)
