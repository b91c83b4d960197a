"""The server's address and token.

The tokens that `weft login` has got are in the home, one file for each server (0600). They are
read here; the command line writes them.
"""

import fcntl
import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from weft.core.bounded import read_json
from weft.core.errors import Invalid, Unavailable
from weft.settings import load_client_settings
from weft.settings.client import ClientProcessSettings


class KeptLogin(NamedTuple):
    """A token for one server."""

    token: str
    token_id: int


def login_file(home: Path, url: str) -> Path:
    """Return where the login at a server is kept."""
    import hashlib  # noqa: PLC0415 (2 ms, and most ask the server of their home)

    return home / "logins" / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"


def kept_login(home: Path, url: str) -> KeptLogin | None:
    """Return the login at a server; None: there is none, or nothing that can be read. Whether its
    token is still good, the server says.
    """
    try:
        stored = read_json(login_file(home, url).read_bytes())
        found = KeptLogin(str(stored["token"]), int(stored["token_id"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    is_usable = found.token.isascii() and found.token.isprintable()
    return found if is_usable and stored.get("url") == url else None


_PORTS = {"http": 80, "https": 443}
_OF_A_START = frozenset(
    {"run", "log", "logs", "pg", "files", "checkpoints", "secrets.json", "callback.json"}
    | {"secret-keys.json", "scratch", "runners", "log-copies", "images"}
)
"""What a start makes in the home before it is ready and writes `client.json`."""
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
"""This machine: reached without TLS, and by no proxy."""


class NotRunning(Unavailable, code="CLI.NOT_RUNNING"):
    """No server address is configured, and no server was started in this home."""


class InvalidUrl(Invalid, code="CLI.INVALID_URL"):
    """The address of the server is malformed."""


class Endpoint(NamedTuple):
    """One server."""

    scheme: str
    host: str
    port: int
    path: str
    """What stands before `/v1`; empty, or begins with a slash and does not end with one."""
    token: str | None
    ca_file: Path | None = None
    """The certificates that are trusted; None: those of the system."""
    cert_file: Path | None = None
    """The certificate that the server of this home shows; no other is trusted then."""
    visit: str | None = None
    """The tenant into which an administrator of the site looks; None: their own."""
    lock: Path | None = None
    """The file that the server of this home keeps locked, if the address is from its home."""

    def locate(self) -> "Endpoint":
        """Return itself: it need not be looked for."""
        return self

    def is_gone(self) -> bool:
        """Say whether the server of the home has ended, so that whoever listens at its address is
        somebody else: the port of a server that was killed may be anybody's by now.
        """
        if self.lock is None:
            return False
        try:
            handle = os.open(self.lock, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False  # nothing is known
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False  # it is held, or this file system has no locks
        else:
            return True
        finally:
            os.close(handle)

    @property
    def is_of_this_host(self) -> bool:
        """Return whether no network leads to it."""
        return self.host in LOOPBACK

    @property
    def url(self) -> str:
        """Return the address as a person would write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


class Locator(NamedTuple):
    """How to find the server: what the caller said, else the settings, else `client.json` of the
    home. The token is, in this order, the caller's, that of the settings, of `weft login` or of
    the home.

    `locate` reads the file again each time, so that a client survives a restart of the server on
    another port.
    """

    url: str | None = None
    token: str | None = None
    home: Path | None = None
    visit: str | None = None
    """Empty: none, whatever the settings say."""

    def locate(self) -> Endpoint:
        """Return the server. Raise `NotRunning` if none was ever started in this home."""
        given = {"url": self.url, "token": self.token, "home": self.home, "visit": self.visit}
        settings = load_client_settings(given)
        return self._locate(settings)._replace(visit=settings.visit or None)

    def is_unset(self) -> bool:
        """Say whether nothing tells of a server, running or not: no setting, no job around us, and
        no home, or one that holds at most what a start leaves that failed or has not ended yet.
        """
        settings = load_client_settings({"home": self.home})
        if settings.url or settings.token or "WEFT_JOB" in os.environ:
            return False
        try:
            return {entry.name for entry in settings.home.iterdir()} <= _OF_A_START
        except OSError as error:  # another user's, or no directory: whoever asks there says so
            return isinstance(error, FileNotFoundError)

    def _locate(self, settings: ClientProcessSettings) -> Endpoint:
        url, token = settings.url, settings.token
        if token is not None and not (token.isascii() and token.isprintable()):
            raise Invalid(
                "the token is malformed",
                detail="It holds other characters than letters, digits and signs of ASCII.",
                hint="Copy it again into WEFT_TOKEN or weft.toml.",
            )
        if url is None:
            endpoint = endpoint_of(settings.home)
            return endpoint if token is None else endpoint._replace(token=token)
        endpoint = parse_url(url, token)._replace(ca_file=settings.ca_file)
        if token is None and (kept := kept_login(settings.home, endpoint.url)) is not None:
            return endpoint._replace(token=kept.token)
        return endpoint


def endpoint_of(home: Path) -> Endpoint:
    """Return the server of a home. Raise `NotRunning` if none was ever started in it."""
    stored = _read_client_file(home / "client.json")
    cert_file = stored.get("cert_file")
    return parse_url(stored["url"], stored["token"])._replace(
        cert_file=None if cert_file is None else Path(cert_file), lock=home / "run" / "up.lock"
    )


def parse_url(url: str, token: str | None) -> Endpoint:
    """Read `http://host:port/path`. Raise `InvalidUrl` for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise _invalid_url(url, f"{error}") from error
    if parts.scheme not in _PORTS or not parts.hostname:
        raise _invalid_url(url, "it does not begin with http:// or https:// and a host")
    if not is_sent_as_is(parts.hostname + parts.path):
        why = "it holds other characters than those of ASCII: a name is xn--… then, a path %…"
        raise _invalid_url(url, why)
    return Endpoint(parts.scheme, parts.hostname, port, parts.path.rstrip("/"), token)


def is_sent_as_is(text: str) -> bool:
    """Say whether a host or a path may stand in the head of a request."""
    return text.isascii() and text.isprintable() and " " not in text


def _invalid_url(url: str, why: str) -> InvalidUrl:
    return InvalidUrl(
        f"{url!r} is not the address of a server",
        detail=f"{why[0].upper()}{why[1:]}.",
        hint="Write it as http://127.0.0.1:8765, in WEFT_URL or in weft.toml.",
    )


def _read_client_file(file: Path) -> dict[str, str]:
    try:
        stored = read_json(file.read_bytes())
        return {
            "url": str(stored["url"]),
            "token": str(stored["token"]),
            **({"cert_file": str(stored["cert_file"])} if "cert_file" in stored else {}),
        }
    except FileNotFoundError:
        raise NotRunning(
            "no server is running here",
            detail=f"{file} does not exist, so no server was started in this home.",
            hint="Start one with `weft up`, or name another with --home, WEFT_HOME or WEFT_URL; "
            "`weft run --up` starts one by itself.",
        ) from None
    except PermissionError:
        raise NotRunning(
            f"you may not read {file}",
            detail="The home belongs to another user, and the file holds that user's token.",
            hint="Use a home of your own with --home or WEFT_HOME, or ask for a token and set "
            "WEFT_URL and WEFT_TOKEN.",
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotRunning(
            f"cannot read {file}",
            detail=f"{type(error).__name__}: {error}.",
            hint="Restart the server with `weft down` and `weft up`; it writes this file.",
        ) from error
