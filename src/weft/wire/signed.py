"""Signatures of what users pickled.

The api that takes it makes them, the agent that has it called checks them. Only this module knows
the form. A signature stands behind what it signs, where a release that knows of none does not
look:

    8 bytes    id of the key
    4 + 4      tenant and user, as signed numbers (big endian)
    32 bytes   HMAC-SHA256 under a key of that tenant, which is derived from the installation's
    4 bytes    mark of this form
"""

import hmac
import struct
from typing import Final, NamedTuple

from weft.wire.sealed import SecretKeys

CHUNK: Final = b"chunk of specs"
"""What is signed: no signature holds for something of another kind."""
CHANGED_VARIABLES: Final = b"changed variables"

_FORM: Final = struct.Struct(">8sii32s4s")
_MARK: Final = b"wfs1"


class Signer(NamedTuple):
    """The user for whom the api signed."""

    tenant_id: int
    user_id: int


class NotSigned(ValueError):
    """There is no signature, or it is not one of this installation for these bytes."""


def sign(kind: bytes, body: bytes, signer: Signer, keys: SecretKeys) -> bytes:
    """Return the bytes with their signature. Raise `SecretKeyMissing` if there is no key."""
    return body + signature(kind, body, signer, keys)


def signature(kind: bytes, body: bytes, signer: Signer, keys: SecretKeys) -> bytes:
    """Return the signature alone. Raise `SecretKeyMissing` if there is no key."""
    key_id = keys.current
    digest = _digest(kind, body, signer, keys, key_id)
    return _FORM.pack(key_id, *signer, digest, _MARK)


def signer_of(kind: bytes, signed: bytes, keys: SecretKeys) -> Signer:
    """Return for whom these bytes were signed. Raise `NotSigned`, and `SecretKeyMissing` if the
    key is not here.
    """
    cut = len(signed) - _FORM.size
    if cut < 0 or not signed.endswith(_MARK):
        raise NotSigned("it has no signature")
    key_id, tenant_id, user_id, digest, _ = _FORM.unpack(signed[cut:])
    signer = Signer(tenant_id, user_id)
    if not hmac.compare_digest(digest, _digest(kind, signed[:cut], signer, keys, key_id)):
        raise NotSigned("its signature is wrong")
    return signer


def _digest(kind: bytes, body: bytes, signer: Signer, keys: SecretKeys, key_id: bytes) -> bytes:
    key = keys.derived(key_id, b"signatures of tenant %d" % signer.tenant_id)
    message = b"%b of user %d\0%b" % (kind, signer.user_id, body)
    return hmac.digest(key, message, "sha256")
