"""Which files of weft's own credentials no job in a sandbox reads."""

from pathlib import Path

import pytest

from weft.run.credential_files import credential_files
from weft.settings import Settings

ISSUERS = """
[[issuers]]
tenant = "acme"
client_secret_file = "secret"
[[issuers]]
client_secret_file = "/etc/other"
[[issuers]]
tenant = "none"
"""


def test_keys_of_tls_and_secrets_of_issuers(tmp_path: Path) -> None:
    issuers, key, certificate = (tmp_path / name for name in ("issuers", "key", "certificate"))
    issuers.write_text(ISSUERS)
    with_key = Settings(
        home=tmp_path, tls_key_file=key, tls_cert_file=certificate, issuers_file=issuers
    )
    in_one = Settings(home=tmp_path, tls_cert_file=certificate)

    assert credential_files(with_key) == (str(key), str(tmp_path / "secret"), "/etc/other")
    assert credential_files(in_one) == (str(certificate),)
    assert credential_files(Settings(home=tmp_path)) == ()


@pytest.mark.parametrize("text", ["not toml", "issuers = 3", "issuers = [3]", None])
def test_issuers_that_cannot_be_read_name_none(tmp_path: Path, text: str | None) -> None:
    """The api says what is wrong with them."""
    issuers = tmp_path / "issuers"
    if text is not None:
        issuers.write_text(text)

    assert credential_files(Settings(home=tmp_path, issuers_file=issuers)) == ()
