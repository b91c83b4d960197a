"""`weft secret set` takes a value that can be one, from anywhere but the command line."""

import io
import json
from pathlib import Path

import pytest

from weft.cli.app import run_command
from weft.cli.commands import secret
from weft.cli.input.job_document import JobOptions, option_fields
from weft.core.errors import SecretKeyMissing
from weft.run.home import Home
from weft.run.secret_keys import add_secret_key, ensure_secret_keys, read_secret_keys
from weft.settings import Settings
from weft.wire.sealed import new_key, parse_keys


class _Input(io.TextIOWrapper):
    def __init__(self, data: bytes, *, is_terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data))
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize(
    ("data", "in_file", "code"),
    [
        (b"", False, "CLI.NO_SECRET_VALUE"),
        (b"\n", False, "CLI.NO_SECRET_VALUE"),
        (b"", True, "CLI.NO_SECRET_VALUE"),
        (None, True, "CLI.NO_SECRET_VALUE"),
        (b"canary\xff", False, "CLI.NOT_UTF8"),
    ],
)
def test_what_is_no_value_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    data: bytes | None,
    in_file: bool,
    code: str,
) -> None:
    monkeypatch.setattr("sys.stdin", _Input(data or b""))
    file = tmp_path / "value"
    if data is not None:
        file.write_bytes(data)
    words = ["secret", "set", "db", *(["--file", str(file)] if in_file else [])]

    assert run_command([*words, "--json"]) == 2
    printed = "".join(capsys.readouterr())
    assert json.loads(printed)["code"] == code
    assert "canary" not in printed


def test_value_comes_from_a_pipe_a_file_or_a_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "value").write_bytes(b"of a file\n")
    monkeypatch.setattr("sys.stdin", _Input(b"piped\n\n"))
    piped = secret._value_of("db", None)
    monkeypatch.setattr("sys.stdin", _Input(b"", is_terminal=True))
    monkeypatch.setattr("getpass.getpass", lambda _: "typed")
    values = [piped, *(secret._value_of("db", one) for one in (None, tmp_path / "value"))]

    assert values == ["piped\n", "typed", "of a file\n"]


def test_options_say_where_a_secret_goes() -> None:
    options = JobOptions(secret=("db-password", "a=B"), secret_file=("tls", "k=key.pem"))

    assert option_fields(options)["secrets"] == [
        {"name": "db-password", "env": "DB_PASSWORD"},
        {"name": "a", "env": "B"},
        {"name": "tls", "file": "tls"},
        {"name": "k", "file": "key.pem"},
    ]


def test_keys_are_made_once_and_kept_private(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with pytest.raises(SecretKeyMissing):
        add_secret_key(home)
    ensure_secret_keys(Settings(home=tmp_path), home)
    made = home.secret_keys()
    ensure_secret_keys(Settings(home=tmp_path), home)
    add_secret_key(home)
    first, second = home.secret_keys()
    given = Settings(home=tmp_path, secret_keys=f"{new_key()} {new_key()}")
    ensure_secret_keys(given, home)
    ensure_secret_keys(given, home)

    assert [second] == made != [first]
    assert home.secret_keys_file.stat().st_mode & 0o777 == 0o600
    # Those of the home still decrypt: nobody else has them.
    assert home.secret_keys() == [*(given.secret_keys or "").split(), first, second]
    assert read_secret_keys(Settings(home=tmp_path), home).current
    home.keep_secret_keys(["swordfish"])
    with pytest.raises(SecretKeyMissing) as wrong:
        read_secret_keys(Settings(home=tmp_path), home)
    assert "swordfish" not in str(wrong.value)
    assert parse_keys(first)
