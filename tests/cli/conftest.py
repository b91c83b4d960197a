"""What tests of the command line share."""

import io
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.anything import stop


@pytest.fixture
def finds_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Let commands find no server, and no home in which something could be started."""
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("WEFT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("WEFT_HOME", str(tmp_path / "file" / "home"))
    monkeypatch.setenv("WEFT_URL", "http://127.0.0.1:1")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.signal(signal.SIGALRM, before)
