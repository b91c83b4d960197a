"""Files of weft's own credentials that may stand outside the home, where a sandbox hides all."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from weft.settings import Settings


def credential_files(settings: Settings) -> tuple[str, ...]:
    """Return the private key of TLS and the secrets that issuers have given to weft, as far as
    they are files.
    """
    # A certificate without a key file has its key in it.
    key = settings.tls_key_file or settings.tls_cert_file
    found = [] if key is None else [key]
    if settings.issuers_file is not None:
        found += _client_secrets(settings.issuers_file)
    return tuple(str(one) for one in found)


def _client_secrets(file: Path) -> Iterator[Path]:
    try:
        entries = tomllib.loads(file.read_text()).get("issuers")
    except (OSError, ValueError):  # the api says so
        return
    for entry in entries if isinstance(entries, list) else ():
        name = entry.get("client_secret_file") if isinstance(entry, dict) else None
        if isinstance(name, str):
            yield file.parent / name
