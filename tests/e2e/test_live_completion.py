"""Tab in real shells: ids and names of the server, nothing that a shell would run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.conftest import Weft, until
from e2e.tmux import on_tmux, program

pytestmark = pytest.mark.heavy
SOURCE = {
    "bash": "source <(weft completion bash)",
    "zsh": "source <(weft completion zsh)",
    "fish": "weft completion fish | source",
}
HOSTILE = "$(touch owned);`touch owned`"
JOBS = f"""
name: many
jobs:
  - {{command: ["true"], group: "/stage1"}}
  - {{command: ["true"], group: "/{HOSTILE}"}}
  - {{command: ["true"], count: 200}}
"""


@pytest.fixture
def batch(weft: Weft, tmp_path: Path) -> str:
    (tmp_path / "jobs.yaml").write_text(JOBS)
    done = weft.run("submit", str(tmp_path / "jobs.yaml"))
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Make `weft` a command, and return the path on which it is."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "weft").write_text(f'#!/bin/sh\nexec {sys.executable} -m weft.cli "$@"\n')
    (folder / "weft").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_tab_completes_what_the_server_knows(
    weft: Weft, batch: str, path: str, tmp_path: Path, shell: str
) -> None:
    program(shell)
    environment = weft.environment({"PATH": path, "HOME": str(tmp_path)})
    with on_tmux(tmp_path, environment, columns=100, lines=40, shell=shell) as terminal:
        terminal.type(f"cd {tmp_path}; {SOURCE[shell]}; echo rea''dy\n")
        terminal.until("ready")
        terminal.type(f"weft status {batch}.j20")
        terminal.press("Tab", *(["Tab"] if shell == "bash" else []))  # it lists at the second
        jobs = terminal.until(f"{batch}.j200", f"{batch}.j201", f"{batch}.j202")
        terminal.press("C-u")
        terminal.type(f"weft why {batch}/s")
        terminal.press("Tab")
        terminal.until(f"weft why {batch}/stage1")
        terminal.press("C-u")
        terminal.type("weft queue show d")
        terminal.press("Tab")
        terminal.until("weft queue show default")

    assert f"{batch}.j21" not in "\n".join(jobs)
    assert not (tmp_path / "owned").exists()


def test_names_that_a_shell_would_read_are_left_out(weft: Weft, batch: str) -> None:
    until(lambda: weft.run("--complete", "status", f"{batch}/").stdout != b"")  # busy: silent
    said = weft.run("--complete", "status", f"{batch}/").stdout.decode().splitlines()

    assert said == [f"{batch}/stage1"]


def test_nothing_is_said_without_a_server(tmp_path: Path) -> None:
    done = Weft(tmp_path).run("--complete", "status", "")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_bash_offers_commands_where_the_server_knows_nothing(path: str, tmp_path: Path) -> None:
    """Bash alone, without a screen: what completion leaves in COMPREPLY."""
    script = (
        f"{SOURCE['bash']}; COMP_WORDS=(weft sta); COMP_CWORD=1; _weft_live weft sta weft;"
        ' echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        [program("bash"), "--norc", "-c", script], check=True, capture_output=True, text=True,
        env={**os.environ, "PATH": path, "WEFT_HOME": str(tmp_path)}, timeout=60,
    )  # fmt: skip

    assert done.stdout.split() == ["status"]
