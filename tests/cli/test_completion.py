"""`weft completion`: every shell accepts its script and learns the commands."""

import shutil
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from weft.cli.app import COMMANDS
from weft.cli.commands.completion import completion


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
