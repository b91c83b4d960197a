"""Which files of weft's own credentials no job in a sandbox reads."""

from pathlib import Path

from cases import cases
from weft.run.credential_files import CredentialFiles
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

    assert CredentialFiles(with_key).found() == (str(key), str(tmp_path / "secret"), "/etc/other")
    assert CredentialFiles(in_one).found() == (str(certificate),)
    assert CredentialFiles(Settings(home=tmp_path)).found() == ()


@cases("text", ["not toml", "issuers = 3", "issuers = [3]", None])
def test_issuers_that_cannot_be_read_name_none(tmp_path: Path, text: str | None) -> None:
    """The api says what is wrong with them."""
    issuers = tmp_path / "issuers"
    if text is not None:
        issuers.write_text(text)

    assert CredentialFiles(Settings(home=tmp_path, issuers_file=issuers)).found() == ()


def test_secrets_of_issuers_that_come_later_are_found(tmp_path: Path) -> None:
    """Those that are known are hidden, too, while somebody writes the file."""
    issuers = tmp_path / "issuers"
    files = CredentialFiles(Settings(home=tmp_path, issuers_file=issuers))
    found = [files.found()]
    for text in (ISSUERS, "[[issuers]", '[[issuers]]\nclient_secret_file = "new"', "issuers = []"):
        issuers.write_text(text)
        found.append(files.found())

    known = (str(tmp_path / "secret"), "/etc/other")
    assert found == [(), known, known, (str(tmp_path / "new"),), ()]
