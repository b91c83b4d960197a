"""Which certificates and keys the api refuses at its start, and how it says so."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cases import cases
from certificates import certificate
from weft.run.tls import certificate_of
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


def test_a_key_may_be_in_the_file_of_its_certificate_and_never_alone(tmp_path: Path) -> None:
    cert_file, key_file = OURS.write(tmp_path)
    key_file.write_bytes(key_file.read_bytes() + cert_file.read_bytes())

    assert certificate_of(Settings(home=tmp_path, tls_cert_file=key_file)) is not None
    assert certificate_of(Settings(home=tmp_path)) is None
    with pytest.raises(InvalidSetting, match="without tls_cert_file"):
        certificate_of(Settings(home=tmp_path, tls_key_file=key_file))
