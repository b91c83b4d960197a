"""Compute the verifier that PostgreSQL stores for a password, so the password never travels.

A statement with a password in clear would stand in the server's log, if statements are logged, and
in `pg_stat_statements`; the verifier proves a password and reveals nothing about it.
Source: RFC 5802 and RFC 7677; the form is that of `pg_authid.rolpassword`.
"""

import base64
import hashlib
import hmac
import secrets

_ROUNDS = 4096
_SALT_BYTES = 16


def scram_verifier(password: str, salt: bytes | None = None) -> str:
    """Return what `ALTER ROLE … PASSWORD` takes in place of the password.

    The password is in ASCII: others would have to be normalised first.
    """
    assert password.isascii(), "passwords of logins are made by weft"
    salt = salt or secrets.token_bytes(_SALT_BYTES)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ROUNDS)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    stored_key = hashlib.sha256(client_key).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    return f"SCRAM-SHA-256${_ROUNDS}:{_text(salt)}${_text(stored_key)}:{_text(server_key)}"


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
