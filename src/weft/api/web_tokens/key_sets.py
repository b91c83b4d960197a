"""Public keys as texts: PEM, and JSON web key sets. Whoever wrote them may mean ill."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from joserfc import jwk
from joserfc.errors import JoseError

from weft.core.bounded import read_json

Key = jwk.RSAKey | jwk.ECKey | jwk.OKPKey
ALGORITHMS_OF: Final[Mapping[type, Collection[str]]] = {
    jwk.RSAKey: ("RS256",),
    jwk.ECKey: ("ES256",),
    jwk.OKPKey: ("Ed25519", "EdDSA"),  # two names of one: RFC 9864 prefers the first
}
KEYS_MAX: Final = 100
RSA_BITS: Final = range(2048, 8193)
_RSA_CHARS_MAX: Final = {"n": 1400, "e": 6}
"""In base64: a longer exponent makes each check of a signature slow."""
_CURVES: Final = ("P-256", "Ed25519")


class KnownKey(NamedTuple):
    """A key of an issuer."""

    key: Key
    digest: bytes
    """That of the key itself: another key with the same id has another one."""


class KeySet:
    """Some keys, by their ids."""

    def __init__(self, keys: Sequence[tuple[str, Key]] = ()) -> None:
        self._keys = [
            (name, KnownKey(key, hashlib.sha256(key.as_der(private=False)).digest()))
            for name, key in keys
        ]

    def fitting(self, key_id: str | None, algorithm: str) -> list[KnownKey]:
        """Return the keys that may have signed: those of the id, or those without one; of this
        algorithm, and at most three of them.
        """
        keys = [
            known
            for name, known in self._keys
            if (name in (key_id, "") or key_id is None)
            and algorithm in ALGORITHMS_OF[type(known.key)]
        ]
        return keys[:3]


def key_of_pem(text: str) -> Key:
    """Return a public key. Raise `ValueError`."""
    for kind in (jwk.RSAKey, jwk.ECKey, jwk.OKPKey):
        try:
            key: Key = kind.import_key(text)
        except (JoseError, ValueError, TypeError):
            continue
        return _checked(key)
    raise ValueError("not the PEM of an RSA, P-256 or Ed25519 public key")


def keys_in(text: bytes) -> KeySet:
    """Return the keys of a JSON web key set; kinds that nobody here can use, and private ones, are
    left out. Raise `ValueError` for what is not such a set.
    """
    document = read_json(text)
    given = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(given, list):
        raise ValueError("not a JSON web key set")
    if len(given) > KEYS_MAX:
        raise ValueError(f"{len(given)} keys, at most {KEYS_MAX}")
    return KeySet(list(_usable(given)))


def _usable(given: Sequence[object]) -> Iterator[tuple[str, Key]]:
    for one in given:
        if not isinstance(one, dict) or one.get("use", "sig") != "sig" or "d" in one:
            continue
        if any(len(str(one.get(name, ""))) > most for name, most in _RSA_CHARS_MAX.items()):
            continue
        try:
            key = jwk.import_key(one)
            if isinstance(key, jwk.RSAKey | jwk.ECKey | jwk.OKPKey):
                yield str(one.get("kid", "")), _checked(key)
        except (JoseError, ValueError, TypeError, KeyError):
            continue


def _checked(key: Key) -> Key:
    """Raise `ValueError` for a key that is private, weak, or of a curve of no algorithm here."""
    public: Any = key.raw_value
    if key.is_private:
        raise ValueError("a private key; only its public part belongs here")
    if isinstance(key, jwk.RSAKey):
        if public.key_size not in RSA_BITS:
            raise ValueError(f"an RSA key has {RSA_BITS.start} to {RSA_BITS.stop - 1} bits")
    elif key.curve_name not in _CURVES:
        raise ValueError(f"curve {key.curve_name} is not one of {', '.join(_CURVES)}")
    return key
