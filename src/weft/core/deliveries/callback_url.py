"""Which URLs may be called back, judged by their text before any name is resolved.

The text is read strictly, because two programs that read one URL differently are how such checks
are got round. The name is resolved when it is called, and the address is checked then
(`addresses.py`).
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import unquote_to_bytes, urlsplit, urlunsplit

from weft.core.addresses import AllowedHosts, is_host_name, parse_address

URL_CHARS_MAX = 2048
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://"
    r"(?:(?P<login>[^/?#@]*)@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^/?#@:\[\]]*)(?::(?P<port>[0-9]*))?"
    r"(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:#(?P<fragment>.*))?"
)
_CHARACTERS = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*")
_PORTS = {"http": 80, "https": 443}
PORT_MAX = 65535


@dataclass(frozen=True)
class CallbackTarget:
    """Where a request goes: a host in lower case, without the brackets of IPv6."""

    scheme: str
    host: str
    port: int
    path: str
    """With the query, never empty."""

    @property
    def authority(self) -> str:
        """Return the header `Host`, and the name of the target in logs: no path, no secret."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def parse_callback_url(url: str) -> CallbackTarget:
    """Read a URL. Raise `ValueError` that says what is wrong with it."""
    if len(url) > URL_CHARS_MAX:
        raise ValueError(f"{len(url)} characters, at most {URL_CHARS_MAX}")
    return parse_target(url)


def parse_target(url: str) -> CallbackTarget:
    """Read a URL of any length. Raise `ValueError`."""
    match = _URL.fullmatch(url) if _CHARACTERS.fullmatch(url) else None
    if match is None:
        raise ValueError("not a URL; write characters that a URL cannot hold as %XX")
    scheme = match["scheme"].lower()
    if scheme not in _PORTS:
        raise ValueError("not an http or https URL")
    if match["login"] is not None:
        raise ValueError("a URL with a login in it")
    if match["fragment"] is not None:
        raise ValueError("a URL with a fragment, which is never sent")
    port = int(match["port"] or _PORTS[scheme]) if len(match["port"] or "") < len("123456") else 0
    if not 1 <= port <= PORT_MAX:
        raise ValueError(f"a port is from 1 to {PORT_MAX}")
    path = (match["path"] or "/") + (match["query"] or "")
    return CallbackTarget(scheme, _host_of(match["host"]), port, path)


def _host_of(text: str) -> str:
    host = text.lower().removesuffix(".")
    try:
        address = parse_address(host)
    except ValueError:
        raise ValueError("the host is neither a name nor an address") from None
    if address is not None:
        return str(address)
    if not is_host_name(host):
        raise ValueError("the host is neither a name nor an address")
    return host


def without_login(url: str) -> tuple[str, Mapping[str, str]]:
    """Return a URL without its login, and the header that says it instead."""
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    token = base64.b64encode(unquote_to_bytes(login)).decode()
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": f"Basic {token}"}


def wrong_callback(url: str, allowed: AllowedHosts) -> str | None:
    """Return why this may not be called, or None as far as the text tells."""
    try:
        target = parse_callback_url(url)
    except ValueError as error:
        return str(error)
    return wrong_address(target.host, allowed, "callback_private_hosts")


def wrong_address(host: str, allowed: AllowedHosts, setting: str) -> str | None:
    """Return why requests may not go there, which `setting` could allow."""
    address = parse_address(f"[{host}]" if ":" in host else host)
    if address is not None:
        is_good = allowed.allow(host, address)
    else:
        is_local = host.rpartition(".")[2] in {"localhost", "localdomain"}
        is_good = not is_local or allowed.allow_name(host) or bool(allowed.networks)
    if is_good:
        return None
    shown = host if not isinstance(address, IPv6Address) else f"[{host}]"
    return f"{shown} is private; the setting {setting} does not allow it"
