"""`weft completion`: every shell accepts its script and learns the commands."""

import shutil
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from weft.cli.app import COMMANDS
from weft.cli.commands.completion import completion
from weft.cli.input.live_words import kind_of, number_query, offered


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_names_every_command_and_is_accepted(
    shell: Literal["bash", "zsh", "fish"], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert completion(shell) == 0
    text = capsys.readouterr().out

    assert all(command in text for command in COMMANDS)
    program = shutil.which(shell)
    if program is not None:
        script = tmp_path / "script"
        script.write_text(text)
        subprocess.run([program, "-n", script], check=True)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("status ", "batches"),
        ("status b1 ", None),
        ("cancel b1 b", "batches"),
        ("status --json b", "batches"),
        ("worker drain ", "workers"),
        ("worker ", None),
        ("billing project show ", "projects"),
        ("run --queue ", "queues"),
        ("query rm ", "queries"),
        ("ls @", "@queries"),
        ("ls @ br", "@queries"),  # as bash takes it apart
        ("ls st", None),
        ("status --limit ", None),
        ("status -", None),
        ("run -- cancel ", None),
        ("", None),
        ("sta", None),
    ],
)
def test_the_server_is_asked_only_for_what_it_knows(line: str, kind: str | None) -> None:
    assert kind_of(line.split(" ")) == kind


def test_words_that_a_shell_would_read_are_not_offered() -> None:
    names = [
        "b1/a",
        "b1/$(x)",
        "b1/`x`",
        "b1/a b",
        "b1/a;b",
        "b1/a\n",
        "-rf",
        "b1/\x1b[2J",
        "b2/a",
    ]

    assert offered([*names, "b1/a"], "b1/") == ["b1/a"]
    assert "-rf" not in offered(names, "")


@pytest.mark.parametrize(("digits", "is_found"), [("1", {1, 12, 199}), ("", {1, 2, 12, 21, 199})])
def test_numbers_are_found_by_their_first_digits(digits: str, is_found: set[int]) -> None:
    query = number_query(digits)
    numbers = {1, 2, 12, 21, 199}
    if query is not None:
        numbers = {one for one in numbers if eval(query.replace(" = ", " == "), {"job_id": one})}  # noqa: S307 (our own text)

    assert numbers == is_found
