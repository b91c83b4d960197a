"""Signatures of functions that are copied: new specs are signed for whoever signed the old ones
(ADR 60). What has no good signature gets none here.
"""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from weft.ports.store import JobRows
from weft.wire.sealed import SecretKeys
from weft.wire.signed import CHANGED_VARIABLES, CHUNK, NotSigned, sign, signer_of

Keys = Callable[[], SecretKeys]
"""Reads the keys of this installation."""


def sign_copies(
    rows: JobRows, originals: Sequence[bytes], changes: Mapping[str, Any], keys: Keys
) -> None:
    """Sign these rows if all original chunks with functions, and variables that are changed, were
    signed for one user. Raise `SecretKeyMissing` if a key that signed them is not here.
    """
    if not originals:
        return
    held = keys()
    with suppress(NotSigned):
        signers = {signer_of(CHUNK, body, held) for body in originals}
        if "env" in changes:
            signers.add(signer_of(CHANGED_VARIABLES, _signed_env(changes), held))
        if len(signers) == 1:
            (signer,) = signers
            rows.chunk_body = [sign(CHUNK, body, signer, held) for body in rows.chunk_body]


def _signed_env(changes: Mapping[str, Any]) -> bytes:
    body = msgspec.json.encode(changes["env"], order="sorted")
    try:
        return body + base64.b64decode(changes.get("env_signature", ""), validate=True)
    except (binascii.Error, TypeError):
        raise NotSigned("its signature is malformed") from None
