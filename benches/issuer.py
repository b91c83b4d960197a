"""An issuer of JSON web tokens whose keys are in a file."""

import json
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from joserfc import jwk, jws, jwt
from joserfc.errors import SecurityWarning

from weft.bench.throwaway import TENANT_USER
from weft.settings.load import FILE_NAME

TENANT: Final = "default"
ISSUER: Final = "https://issuer.example.org"
KEYS_FILE: Final = "keys.json"
VALID_S: Final = 3600
Key = jwk.RSAKey | jwk.ECKey | jwk.OKPKey


def write_issuers(home: Path, keys: Mapping[str, Key]) -> Path:
    """Write the file of issuers with one that has these keys, and name it in the settings."""
    write_keys(home, keys)
    path = home / "issuers.toml"
    path.write_text(
        f'[[issuers]]\ntenant = "{TENANT}"\nissuer = "{ISSUER}"\naudience = "weft"\n'
        f'jwks_file = "{KEYS_FILE}"\n'
    )
    (home / FILE_NAME).write_text(f"issuers_file = {json.dumps(str(path))}\n")
    return path


def write_keys(home: Path, keys: Mapping[str, Key]) -> None:
    """Let the issuer have these keys, by their ids. Readers see the old or the new ones."""
    documents = [key.as_dict(private=False) | {"kid": name} for name, key in keys.items()]
    new = home / f"{KEYS_FILE}.new"
    new.write_text(json.dumps({"keys": documents}))
    new.replace(home / KEYS_FILE)


def web_token(algorithm: str, key: Key, number: int) -> str:
    """Return a token of the user of the home. The id of its key is the name of the algorithm."""
    now = int(time.time())
    claims = {
        "iss": ISSUER,
        "aud": "weft",
        "sub": TENANT_USER,
        "iat": now,
        "exp": now + VALID_S,
        "jti": str(number),
    }
    registry = jws.JWSRegistry(algorithms=[algorithm])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return jwt.encode({"alg": algorithm, "kid": algorithm}, claims, key, registry=registry)
