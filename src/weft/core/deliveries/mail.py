"""Addresses to which notices are mailed, and the server that takes them.

Of messages that nobody wants a bounded number of letters is mailed an hour, each with all that
have come since the last one.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from weft.core.addresses import is_host_name

SCHEME: Final = "mailto:"
"""How the address of a delivery begins that is mailed."""
PORT: Final = 25
_PORT_MAX: Final = 65535
_LOCAL: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_LOCAL_CHARS_MAX: Final = 64
EVERYWHERE: Final = "*"


@dataclass(frozen=True)
class MailServer:
    """Where mail is handed in."""

    host: str
    port: int


def parse_mail_server(text: str) -> MailServer | None:
    """Read `HOST:PORT` or `HOST`; empty: there is none. Raise `ValueError`."""
    if not text:
        return None
    host, colon, port = text.rpartition(":") if ":" in text else (text, "", "")
    number = int(port or PORT) if port.isdecimal() or not colon else 0
    if not is_host_name(host.lower()) or not 1 <= number <= _PORT_MAX:
        raise ValueError("expected HOST:PORT, such as `mail.example.org:25`")
    return MailServer(host.lower(), number)


def parse_mail_address(text: str) -> str:
    """Read an address of one mailbox. Raise `ValueError`."""
    local, _, domain = text.rpartition("@")
    is_local = len(local) <= _LOCAL_CHARS_MAX and _LOCAL.fullmatch(local) is not None
    if not is_local or not is_host_name(domain.lower()):
        raise ValueError("expected an address such as `jane@example.org`")
    return f"{local}@{domain.lower()}"


def parse_mailbox(text: str) -> str:
    """Read an address, or none. Raise `ValueError`."""
    return parse_mail_address(text) if text else ""


def parse_mail_domains(text: str) -> frozenset[str]:
    """Read domains between commas; `*`: all of them. Raise `ValueError`."""
    found = frozenset(one.strip().lower() for one in text.split(",") if one.strip())
    for one in found - {EVERYWHERE}:
        if not is_host_name(one):
            raise ValueError(f"{one!r} is not a domain")
    return found


def wrong_mail_address(text: str, domains: frozenset[str]) -> str | None:
    """Return why nothing may be mailed there; None: it may."""
    try:
        domain = parse_mail_address(text).rpartition("@")[2]
    except ValueError as error:
        return str(error)
    if EVERYWHERE in domains or domain in domains:
        return None
    return f"mail to {domain} is not sent; the setting mail_domains does not allow it"


LINES_MAX: Final = 20
SOURCE_CHARS_MAX: Final = 200
_HOUR_S: Final = 3600.0


@dataclass
class DeadMail:
    """What was not mailed yet."""

    per_hour: int
    _waiting: "Counter[tuple[str, str, str]]" = field(default_factory=Counter)
    """Transport, reason and source."""
    _next_s: float = 0.0

    def note(self, transport: str, reason: str, source: str) -> None:
        """Note a message; anybody may have written where it was meant to go."""
        text = "".join(one if one.isprintable() else "?" for one in source[:SOURCE_CHARS_MAX])
        if len(self._waiting) >= LINES_MAX and (transport, reason, text) not in self._waiting:
            text = "…"  # among others
        self._waiting[transport, reason, text] += 1

    def take(self, now_s: float) -> tuple[str, str] | None:
        """Return subject and text of the letter that is due; None: there is none, or too soon."""
        if not self._waiting or now_s < self._next_s:
            return None
        self._next_s = now_s + _HOUR_S / self.per_hour
        waiting, self._waiting = self._waiting, Counter()
        total = waiting.total()
        lines = [
            f"{count} {reason} at {transport}: {source or '?'}"
            for (transport, reason, source), count in waiting.items()
        ]
        subject = f"weft: {total} dead message{'s' * (total != 1)}"
        return subject, "\n".join([*lines, "", "Look: weft transport letters ls", ""])
