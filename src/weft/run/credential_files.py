"""Files of weft's own credentials that may stand outside the home, where a sandbox hides all."""

from pathlib import Path

from weft.core.bounded import read_toml
from weft.settings import Settings
from weft.settings.transports_file import password_files


class CredentialFiles:
    """The private key of TLS, the passwords of transports and the secrets that issuers have given
    to weft, as far as they are files. The file of issuers is read again when it has changed.
    """

    def __init__(self, settings: Settings) -> None:
        # A certificate without a key file has its key in it.
        key = settings.tls_key_file or settings.tls_cert_file
        self._keys = () if key is None else (str(key),)
        self._transports = tuple(map(str, password_files(settings.transports_file)))
        self._issuers = settings.issuers_file
        self._stamp: tuple[int, ...] | None = None
        self._secrets: tuple[str, ...] = ()

    def found(self) -> tuple[str, ...]:
        """Return their paths. They need not be there."""
        if self._issuers is not None and self._stamp != (stamp := _stamp_of(self._issuers)):
            self._stamp = stamp
            known = _client_secrets(self._issuers)
            self._secrets = self._secrets if known is None else known
        return (*self._keys, *self._transports, *self._secrets)


def _stamp_of(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _client_secrets(file: Path) -> tuple[str, ...] | None:
    """Return the paths; None: it cannot be read, of which the api tells."""
    try:
        entries = read_toml(file.read_text()).get("issuers")
    except (OSError, ValueError):
        return None
    named = [
        entry.get("client_secret_file")
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    ]
    return tuple(str(file.parent / name) for name in named if isinstance(name, str))
