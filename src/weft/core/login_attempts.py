"""What the trail is told of a login that failed: never the secret that was tried."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class LoginAttempt:
    """What is known of whoever tried to log in."""

    digest: bytes | None = field(default=None, repr=False)
    """The SHA-256 of the token, session or code, which may be that of an expired one."""
    tenant: str | None = None
    """The tenant of the issuer that was asked or that has signed the token."""
    user: str | None = None
    """Whom that issuer names."""


def attempt_with(secret: str) -> LoginAttempt:
    """Return the attempt to log in with a token, a session or a code."""
    import hashlib  # noqa: PLC0415 (3 ms, and every command imports this file)

    return LoginAttempt(hashlib.sha256(secret.encode()).digest())
