"""Ctrl-C while the server does not answer."""

import signal
import socket
import subprocess
import sys

import pytest

from weft.cli.terminal.interrupts import INTERRUPTED, UNANSWERED

PROGRAM = """
from weft.cli.terminal import interrupts
interrupts.LONGEST_S = 0.2
from weft.cli.app import main
main()
"""


@pytest.mark.parametrize("words", [("run", "-n", "--", "true"), ("each", "--", "true")])
def test_a_command_leaves_a_server_that_does_not_answer(words: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words], stdin=subprocess.PIPE, text=True,
            stderr=subprocess.PIPE, env={"WEFT_URL": url, "WEFT_TOKEN": "x"},
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write("line\n")
        process.stdin.flush()
        with server.accept()[0]:
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=20)

    assert process.returncode == INTERRUPTED, told
    assert (UNANSWERED in told) is (words[0] == "run")
