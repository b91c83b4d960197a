"""Tab in real shells: ids and names of the server, nothing that a shell would run."""

import json
import os
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
  - {{command: ["true"], group: "/my stage"}}
  - {{command: ["true"], group: "/{HOSTILE}"}}
  - {{command: ["true"], count: 200}}
"""


@pytest.fixture
def batch(weft: Weft, tmp_path: Path) -> str:
    (tmp_path / "jobs.yaml").write_text(JOBS)
    return weft.told("submit", str(tmp_path / "jobs.yaml")).decode().strip()


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Make `weft` a command, and return the path on which it is."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "weft").write_text(f'#!/bin/sh\nexec {sys.executable} -m weft.cli "$@"\n')
    (folder / "weft").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_tab_completes_words_files_and_what_the_server_knows(
    weft: Weft, batch: str, path: str, tmp_path: Path, shell: str
) -> None:
    program(shell)
    (tmp_path / "picture.svg").touch()
    weft.run("query", "save", "broken", "state = failure")
    environment = weft.environment({"PATH": path, "HOME": str(tmp_path)})
    with on_tmux(tmp_path, environment, columns=100, lines=40, shell=shell) as terminal:

        def completes(line: str, *shown: str) -> list[str]:
            """Press Tab behind a line; return the screen when it shows these."""
            terminal.press("C-u")
            terminal.type(line)
            terminal.press("Tab", *(["Tab"] if shell == "bash" else []))  # it lists at the second
            return terminal.until(*shown)

        terminal.type(f"cd {tmp_path}; {SOURCE[shell]}; echo rea''dy\n")
        terminal.until("ready")
        jobs = completes(f"weft status {batch}.j20", *(f"{batch}.j20{n}" for n in range(4)))
        completes("weft stat", "weft status")
        completes("weft dag b1 --form", "weft dag b1 --format")
        completes("weft dag b1 --format=s", "--format=svg")
        completes("weft dag b1 -o pict", "-o picture.svg")
        completes("weft dag b1 --output=pict", "--output=picture.svg")
        completes("weft run -- cat pict", "cat picture.svg")
        completes(f"weft why {batch}/s", f"weft why {batch}/stage1")
        completes(f"weft why {batch}/m", f"weft why {batch}/my\\ stage")
        completes(f'weft logs "{batch}/my s', f'weft logs "{batch}/my stage"')
        completes("weft queue show d", "weft queue show default")
        completes("weft run --queue d", "weft run --queue default")
        completes("weft pool show d", "weft pool show default")
        completes("weft ls @b", "weft ls @broken")
        completes("weft query rm b", "weft query rm broken")

    assert f"{batch}.j21" not in "\n".join(jobs)
    assert not (tmp_path / "owned").exists()


def test_names_that_a_shell_would_read_are_left_out(weft: Weft, batch: str) -> None:
    """What is busy is silent."""

    def words() -> list[str]:
        said = weft.run("--complete", "zsh", "status", f"{batch}/").stdout.decode().splitlines()
        return sorted(line.partition("\t")[0] for line in said[1:])

    until(lambda: words() != [])

    assert words() == [f"{batch}/my stage", f"{batch}/stage1"]


def test_people_and_what_they_have_are_known(weft: Weft) -> None:
    weft.run("user", "add", "bob", "--role", "operator")
    weft.run("secret", "set", "db-password", stdin=b"x")
    token = json.loads(weft.run("token", "create", "dashboard", "--json").stdout)["token_id"]
    lines = {
        "user rm b": ["bob\toperator"],
        "share b1 --with b": ["bob\toperator"],
        "quota set --user=b": ["--user=bob\toperator"],
        "quota set --tenant d": ["default"],
        f"token revoke {token}": [f"{token}\tdashboard"],
        "run --secret db": ["db-password"],
        "session rm ": [],
        "operation cancel ": [],
        "run --machine ": [],
    }

    said = {
        line: weft.run("--complete", "zsh", *line.split(" ")).stdout.decode().splitlines()
        for line in lines
    }

    assert said == {line: ["words", *words] for line, words in lines.items()}


def test_token_is_revoked_by_its_name(weft: Weft) -> None:
    """A name that several have, or none, revokes nothing."""
    for name in ("ours", "twice", "twice"):
        weft.run("token", "create", name)
    done = weft.run("token", "revoke", "ours")
    again, twice = (weft.run("token", "revoke", name) for name in ("ours", "twice"))
    left = [one["name"] for one in json.loads(weft.run("token", "ls", "--json").stdout)]

    assert (done.returncode, again.returncode, twice.returncode) == (0, 2, 2)
    assert b"you have no token 'ours'" in again.stderr
    assert b"2 of your tokens are named 'twice'" in twice.stderr
    assert "ours" not in left
    assert left.count("twice") == 2


def test_help_of_a_command_is_also_asked_by_help(weft: Weft) -> None:
    for words in (["run"], ["token", "revoke"], []):
        said = weft.run("help", *words)
        assert said.returncode == 0
        assert said.stdout == weft.run(*words, "--help").stdout


def test_nothing_is_said_without_a_server(tmp_path: Path) -> None:
    done = Weft(tmp_path).run("--complete", "zsh", "status", "")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"words\n", b"")
