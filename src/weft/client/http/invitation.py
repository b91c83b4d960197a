"""The word with which a machine joins as a worker: `https://host:8765#TOKEN.PIN`."""

import hashlib
import re
import ssl
from typing import NamedTuple

from weft.client.http.address import Endpoint, parse_url
from weft.client.http.blocking import need_loop
from weft.client.http.connection import CouldNotConnect, NotTrusted, shown_certificate
from weft.client.http.session import NotReachable, NotTheServer
from weft.client.http.trust import require_tls, tls_context
from weft.core.errors import Forbidden, Invalid

_WORD = re.compile(r"(?P<url>[^#\s]+)#(?P<token>[A-Za-z0-9_-]{20,200})(\.(?P<pin>[0-9a-f]{64}))?")


class MalformedInvitation(Invalid, code="CLI.MALFORMED_INVITATION"):
    """The word of an invitation is not whole, or its address is no server's."""


class WrongPin(Forbidden, code="CLI.WRONG_PIN"):
    """A server shows another certificate than that of the invitation."""


class Invitation(NamedTuple):
    """What a machine needs to join."""

    endpoint: Endpoint
    token: str
    pin: str
    """The SHA-256 of the server's certificate; empty: it is this machine's, without TLS."""

    @property
    def word(self) -> str:
        """Return it as it is pasted."""
        return f"{self.endpoint.url}#{self.token}{self.pin and f'.{self.pin}'}"

    async def certificate(self) -> str:
        """Return the certificate that is meant, in PEM, before anything is sent. Raise `WrongPin`,
        `NotReachable`.
        """
        anybody = ssl.create_default_context()
        anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE  # the pin says whom
        shown = await _shown(self.endpoint, anybody)
        if hashlib.sha256(shown).hexdigest() != self.pin:
            raise WrongPin(
                f"{self.endpoint.url} is not the server that has invited",
                detail="It shows another certificate: somebody stands in between, or it was "
                "renewed since. The invitation was not sent.",
                hint="Ask for another one: `weft worker invite`.",
            )
        return ssl.DER_cert_to_PEM_cert(shown)


def read_invitation(word: str) -> Invitation:
    """Read an `Invitation.word`. Raise `MalformedInvitation`, `InvalidUrl`, `InvalidSetting`."""
    found = _WORD.fullmatch(word)
    if found is None or found["url"].startswith("https:") != bool(found["pin"]):
        raise MalformedInvitation(
            "this is not the whole word of an invitation",
            detail="It is written https://HOST:PORT#TOKEN.PIN.",
            hint="Copy the line of `weft worker invite` whole, with its quotes.",
        )
    endpoint = parse_url(found["url"], None)
    require_tls(endpoint)
    return Invitation(endpoint, found["token"], found["pin"] or "")


async def pin_of(endpoint: Endpoint) -> str:
    """Return the pin of a server that is trusted; empty: it has no certificate. Raise
    `NotReachable`, `NotTheServer`.
    """
    tls = tls_context(endpoint)
    return "" if tls is None else hashlib.sha256(await _shown(endpoint, tls)).hexdigest()


async def _shown(endpoint: Endpoint, tls: ssl.SSLContext) -> bytes:
    await need_loop()
    try:
        return await shown_certificate(endpoint, tls)
    except NotTrusted as error:
        raise NotTheServer(endpoint, str(error)) from error
    except CouldNotConnect as error:
        raise NotReachable(endpoint, str(error)) from error
