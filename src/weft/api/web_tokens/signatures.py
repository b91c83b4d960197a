"""Signatures of JSON web tokens: checked by the library, and remembered once they were good.

A bearer sends the same token with each request, and its signature takes longer than all the rest.
Whether a key has signed a token never changes, so a remembered answer is never out of date; which
keys count, the claims and the dates do change, and are not looked at here.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final
from warnings import catch_warnings, simplefilter

from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning
from joserfc.util import urlsafe_b64decode

from weft.api.web_tokens import wso2
from weft.api.web_tokens.key_sets import ALGORITHMS_OF, KnownKey

REMEMBER_MAX: Final = 10_000
"""Each takes some 200 bytes."""
IsSigned = Callable[[str, Sequence[KnownKey], str], bool]
"""Says whether one of these keys has signed a token by this algorithm, which is the token's."""
_REGISTRIES: Final = {
    name: jws.JWSRegistry(algorithms=[name], strict_check_header=False)
    for names in ALGORITHMS_OF.values()
    for name in names
}
_RS256: Final = jws.JWSRegistry.algorithms["RS256"]


class Signatures:
    """Remembers who has signed which tokens, those used last. Only digests are kept: of the token
    together with the key. A refusal is not remembered, so nobody fills this with tokens of theirs.
    """

    def __init__(self, remember_max: int = REMEMBER_MAX, check: IsSigned | None = None) -> None:
        self._remember_max = remember_max
        self._check = check or is_signed
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def __len__(self) -> int:
        """Return how many are remembered."""
        return len(self._known)

    def is_signed(self, token: str, keys: Sequence[KnownKey], algorithm: str) -> bool:
        """Say whether one of these keys has signed the token."""
        digests = [hashlib.sha256(key.digest + token.encode()).digest() for key in keys]
        for digest in digests:
            if digest in self._known:
                self._known.move_to_end(digest)
                return True
        for digest, key in zip(digests, keys, strict=True):
            if self._check(token, [key], algorithm):
                self._known[digest] = None
                if len(self._known) > self._remember_max:
                    self._known.popitem(last=False)
                return True
        return False


def is_signed(token: str, keys: Sequence[KnownKey], algorithm: str) -> bool:
    """Say whether one of these keys has signed the token."""
    return any(_has_signed(key, token, algorithm) for key in keys)


def _has_signed(one: KnownKey, token: str, algorithm: str) -> bool:
    try:
        if algorithm == wso2.ALGORITHM:  # a name that the library does not know
            signed, _, signature = token.rpartition(".")
            return _RS256.verify(signed.encode(), urlsafe_b64decode(signature.encode()), one.key)
        with catch_warnings():
            simplefilter("ignore", SecurityWarning)  # about the name EdDSA
            jws.deserialize_compact(token, one.key, registry=_REGISTRIES[algorithm])
    except (JoseError, ValueError, TypeError):
        return False
    return True
