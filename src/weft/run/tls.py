"""The api's address, and its certificate for TLS, which is read again when its files change.

Each handshake looks whether they have changed, so nothing watches them in between; links that are
switched over, as certbot and Kubernetes do, are followed.
"""

import asyncio
import os
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from weft.core.findings import Finding
from weft.settings import InvalidSetting, Settings
from weft.telemetry.log import log

_FOR_OTHERS: Final = 0o027
"""Bits of the mode that a private key must not have; a group such as ssl-cert may read it."""
_MISMATCH: Final = "KEY_VALUES_MISMATCH"
_SOON: Final = timedelta(days=14)
_DAY_S: Final = 86_400


def api_url(settings: Settings, port: int) -> str:
    """Return the address, also if the api listens on all of this machine's."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (they are replaced)
    host = everywhere.get(settings.host, settings.host)
    scheme = "http" if settings.tls_cert_file is None else "https"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def certificate_of(settings: Settings) -> "Certificate | None":
    """Return the certificate of the settings, if they name one. Raise `InvalidSetting`."""
    if settings.tls_cert_file is not None:
        return Certificate(settings.tls_cert_file, settings.tls_key_file)
    if settings.tls_key_file is not None:
        raise InvalidSetting(
            "tls_key_file is given without tls_cert_file",
            hint="Name the certificate too, or neither of them.",
        )
    return None


def certificate_finding(settings: Settings) -> Finding | None:
    """Say whether a certificate that can be used is valid, now and soon; None: there is none."""
    if (cert_file := settings.tls_cert_file) is None:
        return None
    from cryptography import x509  # noqa: PLC0415 (heavy)

    leaf = x509.load_pem_x509_certificates(cert_file.read_bytes())[0]
    begins, ends = leaf.not_valid_before_utc, leaf.not_valid_after_utc
    now = datetime.now(UTC)
    advice = (
        f"Renew {cert_file}, which needs no restart; if it is in order, set this host's clock."
    )
    if ends <= now:
        text = f"the api's certificate ended at {ends:%F %R} UTC: no client trusts it"
        return Finding("certificate", "wrong", text, advice)
    if now < begins:
        text = f"the api's certificate is not valid before {begins:%F %R} UTC: no client trusts it"
        return Finding("certificate", "wrong", text, advice)
    text = f"the api's certificate ends at {ends:%F %R} UTC, in {(ends - now).days} days"
    if ends - now < _SOON:
        return Finding("certificate", "warning", text, advice)
    return Finding("certificate", "ok", text)


async def watch_certificate(settings: Settings) -> None:
    """Log each day that it is not valid, or ends soon."""
    while (finding := certificate_finding(settings)) is not None:
        if finding.verdict != "ok":
            log.warning("tls.not_valid", error=finding.found, hint=finding.advice)
        await asyncio.sleep(_DAY_S)


class Certificate:
    """A certificate and its key, as they are in their files now.

    Raises `InvalidSetting` if they cannot be used at the start; later the former ones stay.
    """

    def __init__(self, cert_file: Path, key_file: Path | None) -> None:
        self._cert_file = cert_file
        self._key_file = key_file
        self._seen = self._look()
        self.context = self._current = self._load()
        """For the server: it hands each connection over to the latest certificate."""
        self.context.sni_callback = self._choose

    def _choose(self, connection: ssl.SSLObject, _name: str, _context: ssl.SSLContext) -> None:
        # The files are looked at first: if they change while they are read, they are read again.
        seen = self._look()
        if seen != self._seen:
            self._seen = seen
            try:
                self._current = self._load()
            except InvalidSetting as error:
                log.warning("tls.not_reloaded", **error.told)
            else:
                log.info("tls.reloaded", certificate=str(self._cert_file))
        connection.context = self._current

    def _look(self) -> list[tuple[int, int, int] | None]:
        return [_signature(path) for path in (self._cert_file, self._key_file) if path is not None]

    def _load(self) -> ssl.SSLContext:
        key_setting = "tls_cert_file" if self._key_file is None else "tls_key_file"
        key_file = self._key_file or self._cert_file
        if "-----BEGIN CERTIFICATE-----" not in _read("tls_cert_file", self._cert_file):
            raise _wrong("tls_cert_file", self._cert_file, "It has no certificate in PEM.")
        if "PRIVATE KEY-----" not in _read(key_setting, key_file):
            raise _wrong(key_setting, key_file, "It has no private key in PEM.")
        mode = key_file.stat().st_mode & 0o777
        if mode & _FOR_OTHERS:
            why = f"Others may read or write the private key (mode {mode:04o})."
            raise _wrong(key_setting, key_file, why, hint=f"Run `chmod 600 {key_file}`.")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(self._cert_file, key_file, password=_no_password)
        except ssl.SSLError as error:
            if error.reason == _MISMATCH:
                why = f"It is not the key of the certificate in {self._cert_file}."
                raise _wrong(key_setting, key_file, why) from error
            why = f"It or the key in {key_file} is damaged ({error.reason or error})."
            raise _wrong("tls_cert_file", self._cert_file, why) from error
        except ValueError as error:
            raise _wrong(key_setting, key_file, str(error)) from error
        return context


def _no_password() -> str:
    raise ValueError("The private key is encrypted, and nobody is asked for its password.")


def _signature(file: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)  # noqa: PTH116 (in each handshake)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(setting: str, file: Path) -> str:
    try:
        return file.read_text("latin-1")
    except OSError as error:
        raise _wrong(setting, file, f"{error.strerror or error}.") from error


def _wrong(setting: str, file: Path, why: str, hint: str = "") -> InvalidSetting:
    return InvalidSetting(
        f"{setting} {file} cannot be used",
        detail=why,
        hint=hint or "docs/guides/administration.md says what these files hold.",
    )
