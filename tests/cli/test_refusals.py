"""What `weft store`, `weft transport`, `weft schedule` and `weft retry` say of mistakes."""

import json
from pathlib import Path

import pytest

from cases import cases
from weft.cli.app import run_command
from weft.cli.commands.store import CredentialsWrong
from weft.cli.terminal.names import retried_words
from weft.core.errors import FieldError, Invalid, TransportNotFound
from weft.run.transports import check_transports
from weft.settings import load_settings


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


FILE = """
[[transports]]
name = "rabbit"
kind = "rabbitmq"
address = "amqp://127.0.0.1:1"
tenants = ["default"]
"""


def test_what_cannot_be_reached_is_wrong_and_what_is_not_named_does_not_exist(
    tmp_path: Path,
) -> None:
    pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")
    file = tmp_path / "transports.toml"
    file.write_text(FILE)
    settings = load_settings({"home": tmp_path, "transports_file": file})
    (found,) = check_transports(settings, "rabbit")

    assert (found.check, found.verdict) == ("rabbit", "wrong")
    assert "cannot be reached" in found.found
    with pytest.raises(TransportNotFound):
        check_transports(settings, "kafka")


@pytest.mark.parametrize(
    ("pointer", "place"),
    [
        ("/cron", "CRON"),
        ("/time_zone", "--tz"),
        ("/document/jobs/0/command", ":1: job 1, command"),
    ],
)
def test_a_mistake_is_named_by_its_option_or_its_place_in_the_file(
    pointer: str,
    place: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_args: object, **_more: object) -> int:
        raise Invalid("bad", errors=[FieldError(pointer, "is wrong")])

    monkeypatch.setattr("weft.cli.input.options.Shared.ask", refused)
    file = tmp_path / "b.yaml"
    file.write_text("jobs: [{command: ['true']}]")

    for words in ([",".join(["1"] * 999), str(file)], [str(file), "* * * * *"]):
        assert run_command(["schedule", "add", *words]) != 0
        assert f"{place}: is wrong" in " ".join(capsys.readouterr().err.split())


@cases(
    ("n_jobs", "n_late", "told"),
    [
        (0, 0, "nothing to retry"),
        (1, 0, "1 job runs again"),
        (2000, 1, "2,000 jobs run again; 1 job left out: its deadline has passed"),
        (0, 2, "nothing to retry; 2 jobs left out: their deadlines have passed"),
    ],
)
def test_jobs_are_counted(n_jobs: int, n_late: int, told: str) -> None:
    assert retried_words(n_jobs, n_late) == told
