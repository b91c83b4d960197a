"""What `weft schedule` says of mistakes."""

from pathlib import Path

import pytest

from weft.cli.app import run_command
from weft.core.errors import FieldError, Invalid


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
