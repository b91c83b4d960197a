"""The link that `weft up` prints for the user at its terminal, and for nobody else."""

import os
import pty
import re
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from up.weft_up import DEADLINE_S, WEFT, client_of, run_weft, up

pytestmark = pytest.mark.heavy

LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/login\?code=([\w-]{43})")


def _read_until(handle: int, wanted: re.Pattern[str]) -> str:
    """Return what a terminal shows, as soon as this is in it."""
    text = ""
    while not wanted.search(text):
        text += os.read(handle, 4096).decode()
    return text


def test_link_is_shown_on_a_terminal_and_written_nowhere(home: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [WEFT, "up", "--home", home, "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    ) as weft:
        os.close(theirs)
        shown = _read_until(ours, re.compile("weft top"))
        try:
            found = LINK.search(shown)
            assert found is not None, shown
            url, code = found.groups()
            with httpx.Client(base_url=url, headers={"origin": url}) as browser:
                code_used = browser.post("/login", data={"code": code})
                who = browser.get("/v1/whoami").json()
            unseen = run_weft("open", "--json", "--home", str(home), DISPLAY="", BROWSER="")
            page = home.parent / "argument"
            program = home.parent / "browser"
            program.write_text(f'#!/bin/sh\necho "$1" > {page}\n')
            program.chmod(0o700)
            opened = run_weft(
                "open", "--json", "--home", str(home), DISPLAY="", BROWSER=f"{program} %s"
            )
        finally:
            weft.send_signal(signal.SIGINT)
            _, said = weft.communicate(timeout=DEADLINE_S)
            os.close(ours)

    assert code_used.status_code == 303
    assert who["token_id"] is not None
    assert url == client_of(home)["url"]
    assert code not in said.decode()
    for file in (home / "log").iterdir():
        assert b"code=" not in file.read_bytes()
    assert (unseen.returncode, unseen.stdout) == (4, "")
    assert "CLI.LINK_NOT_SHOWN" in unseen.stderr
    assert '"opened":true' in opened.stdout
    assert "code=" not in opened.stdout + opened.stderr
    assert page.read_text().strip() == (home / "login.html").as_uri()
    assert LINK.search((home / "login.html").read_text())
    assert (home / "login.html").stat().st_mode & 0o777 == 0o600


def test_nobody_at_a_terminal_gets_no_link(home: Path) -> None:
    with up(home) as weft:
        weft.until_ready()
        weft.signal(signal.SIGINT)
        weft.finish()
        assert weft.process.stdout is not None
        said = weft.process.stdout.read()

    assert "weft is ready" in said
    assert "login" not in said
