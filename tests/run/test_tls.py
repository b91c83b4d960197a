"""Which certificates and keys the api refuses at its start, and how it says so."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from cases import cases
from certificates import DAY, certificate
from weft.run.tls import certificate_finding, certificate_of
from weft.settings import InvalidSetting, Settings

OURS, OTHER = certificate("127.0.0.1"), certificate("127.0.0.1")


def _change(
    name: str, data: bytes | None = None, mode: int | None = None
) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        if data is not None:
            (folder / name).write_bytes(data)
        elif mode is not None:
            (folder / name).chmod(mode)
        else:
            (folder / name).unlink()

    return change


@cases(
    ("change", "setting", "why"),
    [
        (_change("cert.pem"), "tls_cert_file", "No such file or directory."),
        (_change("key.pem"), "tls_key_file", "No such file or directory."),
        (_change("cert.pem", b"hello"), "tls_cert_file", "It has no certificate in PEM."),
        (_change("key.pem", b"hello"), "tls_key_file", "It has no private key in PEM."),
        (_change("key.pem", OTHER.key_pem()), "tls_key_file", "It is not the key of the certific"),
        (_change("key.pem", OURS.key_pem(b"secret")), "tls_key_file", "The private key is encry"),
        (_change("key.pem", mode=0o604), "tls_key_file", "Others may read .* \\(mode 0604\\)."),
        (_change("key.pem", mode=0o620), "tls_key_file", "Others may read .* \\(mode 0620\\)."),
        (
            _change("cert.pem", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            "tls_cert_file",
            "is damaged",
        ),
    ],
)
def test_what_cannot_be_used_is_named(
    tmp_path: Path, change: Callable[[Path], None], setting: str, why: str
) -> None:
    cert_file, key_file = OURS.write(tmp_path)
    settings = Settings(home=tmp_path, tls_cert_file=cert_file, tls_key_file=key_file)
    key_file.chmod(0o640)  # a group may read it
    assert certificate_of(settings) is not None

    change(tmp_path)
    with pytest.raises(InvalidSetting, match=f"{setting} {tmp_path}.* cannot be used") as refused:
        certificate_of(settings)
    assert re.search(why, refused.value.detail)


@cases(
    ("begins_in", "ends_in", "verdict", "found"),
    [
        (-20 * DAY, -DAY, "wrong", "ended at .*: no client trusts it"),
        (DAY, 20 * DAY, "wrong", "is not valid before .*: no client trusts it"),
        (-DAY, 14 * DAY, "warning", "in 13 days"),
        (-DAY, 15 * DAY, "ok", "in 14 days"),
    ],
)
def test_a_certificate_that_is_not_valid_or_ends_soon_is_found(
    tmp_path: Path, begins_in: timedelta, ends_in: timedelta, verdict: str, found: str
) -> None:
    pair = certificate("127.0.0.1", begins_in=begins_in, ends_in=ends_in)
    cert_file, _ = pair.write(tmp_path)
    cert_file.write_bytes(pair.key_pem() + pair.cert_pem())  # the key may be before it

    finding = certificate_finding(Settings(home=tmp_path, tls_cert_file=cert_file))
    assert finding is not None
    assert (finding.verdict, bool(re.search(found, finding.found))) == (verdict, True)


def test_a_key_may_be_in_the_file_of_its_certificate_and_never_alone(tmp_path: Path) -> None:
    cert_file, key_file = OURS.write(tmp_path)
    key_file.write_bytes(key_file.read_bytes() + cert_file.read_bytes())

    assert certificate_of(Settings(home=tmp_path, tls_cert_file=key_file)) is not None
    assert certificate_of(Settings(home=tmp_path)) is None
    with pytest.raises(InvalidSetting, match="without tls_cert_file"):
        certificate_of(Settings(home=tmp_path, tls_key_file=key_file))
