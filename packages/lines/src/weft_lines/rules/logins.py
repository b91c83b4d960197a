"""Logins that are written into addresses of a setup. Each becomes a secret of who saves the file,
which then names it (ADR 148), because the file itself is stored and shown.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from urllib.parse import unquote

from weft.core.deliveries.credentials import AUTHORITY
from weft.core.lines.line import Setup

_NAME_CHARS_MAX: Final = 63
_TELLING_CHARS: Final = 6
"""A shorter password may be a word of the file."""


class Login(NamedTuple):
    """What was written into the address of a part."""

    where: tuple[str, str, str]
    url: str
    secret: str
    """The name that stands there instead; one for all that have the same login."""
    value: str

    @property
    def named(self) -> str:
        """Return the address with that name."""
        return self.url.replace(f"//{self.value}@", f"//${{secret.{self.secret}}}@", 1)


def logins_of(setup_name: str, setup: Setup) -> Sequence[Login]:
    """Return the logins that are written into addresses."""
    urls = {
        **{("source", name): source.options.get("url") for name, source in setup.sources.items()},
        **{("sink", name): sink.url for name, sink in setup.sinks.items()},
    }
    found: list[Login] = []
    names: dict[str, str] = {}
    for (section, name), url in urls.items():
        match = AUTHORITY.match(str(url or ""))
        if match is not None and match[1] and "${" not in match[1]:
            secret = names.setdefault(match[1], _secret_name(setup_name, section, name))
            found.append(Login((section, name, "url"), str(url), secret, match[1]))
    return found


def without_logins(text: str, logins: Sequence[Login]) -> str:
    """Return the text of a setup with the names of secrets instead of logins."""
    for login in logins:
        for quote in "\"'":
            text = text.replace(f"{quote}{login.url}{quote}", f"{quote}{login.named}{quote}")
    return text


def still_told(text: str, logins: Sequence[Login]) -> Sequence[Login]:
    """Return the logins that `without_logins` leaves in a text, or takes from other fields."""
    named, n = without_logins(text, logins), Counter(login.named for login in logins)
    return [
        login
        for login in logins
        if named.count(login.named) != n[login.named]
        or (len(word := login.value.rpartition(":")[2]) >= _TELLING_CHARS and word in named)
    ]


def owned_by(setup: Setup, user: str, logins: Sequence[Login]) -> Setup:
    """Return a setup whose parts with these logins belong to the user who has them."""
    named = {login.where[:2] for login in logins}
    sources = {
        name: replace(source, owner=user) if ("source", name) in named else source
        for name, source in setup.sources.items()
    }
    own = frozenset(name for section, name in named if section == "sink")
    return replace(setup, sources=sources, own_sinks=own)


def value_of(login: Login) -> str:
    """Return what the secret has: the login as it is meant, as secrets of addresses are quoted
    when they are filled in.
    """
    return unquote(login.value)


def _secret_name(setup: str, section: str, name: str) -> str:
    whole = f"{setup}.{section}.{name}"
    if len(whole) <= _NAME_CHARS_MAX:
        return whole
    return f"{section}-{hashlib.sha256(whole.encode()).hexdigest()[:40]}"
