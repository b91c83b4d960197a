"""`weft store`: each store is opened in one way."""

import json
from pathlib import Path

import pytest

from weft.cli.app import run_command
from weft.cli.commands.store import CredentialsWrong


@pytest.mark.parametrize(
    "more", [[], ["--env", "--instance-role"], ["--secret", "key", "--env"]], ids=str
)
def test_a_store_is_opened_in_one_way(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["store", "add", "a", "s3://bucket", "--access", "read", "--home", str(tmp_path)]

    assert run_command([*words, *more, "--json"]) == CredentialsWrong.exit_code
    told = json.loads(capsys.readouterr().err.strip().splitlines()[-1])
    assert told["code"] == "CLI.STORE_CREDENTIALS_WRONG"
