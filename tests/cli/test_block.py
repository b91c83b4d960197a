"""`weft block` and `weft progress`: the files that they leave, and when they refuse."""

import json
from pathlib import Path

import pytest

from weft.cli.app import run_command
from weft.core.ends.conditions import Ask, read_ask


def test_it_writes_what_is_missing_and_ends_with_75(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "b"
    monkeypatch.setenv("WEFT_BLOCK_FILE", str(file))
    code = run_command(
        [
            "block",
            "--condition",
            "quota",
            "--tester",
            "tcp",
            "--param",
            "host=db",
            "--param",
            "port=5432",
        ]
    )

    assert code == 75
    assert read_ask(file.read_bytes())[0] == Ask("quota", "tcp", {"host": "db", "port": "5432"})


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--param", "host"], "is not NAME=VALUE"),
        (["--tester", "no such"], "its tester is not the name of one"),
        (["--param", "a b=1"], "a parameter is a name"),
        (["--condition", "bad"], "--condition"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_written(
    options: list[str],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("WEFT_BLOCK_FILE", str(tmp_path / "b"))

    assert run_command(["block", *options]) == 2
    assert why in capsys.readouterr().err.replace("\n", " ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("told", "code", "content"),
    [("40", 0, "40 epoch 4\n"), ("101", 2, ""), ("nan", 2, ""), ("snow", 2, "")],
)
def test_a_job_says_how_far_it_is(
    told: str, code: int, content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "p"
    file.touch()
    monkeypatch.setenv("WEFT_JOB", "b1.j1")
    monkeypatch.setenv("WEFT_PROGRESS", str(file))

    assert run_command(["progress", told, "epoch 4"]) == code
    assert file.read_text() == content


@pytest.mark.parametrize("command", [["block"], ["progress", "40"], ["note", "x.md"]])
def test_outside_of_a_job_it_says_so(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("WEFT_BLOCK_FILE", "WEFT_JOB"):
        monkeypatch.delenv(name, raising=False)

    assert run_command([*command, "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["code"] == "CLI.NOT_IN_JOB"
