"""What a reader of lines gets, and what is written."""

import importlib
import json
import os
from pathlib import Path

import pytest

from plugins.package import install
from weft.telemetry import log

pytestmark = pytest.mark.world(name="opentelemetry")


def test_installed_reader_sees_lines_of_all_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that reads none is no reader."""
    path = tmp_path / "log"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    (tmp_path / "readers.py").write_text("seen = []\ndef reader(role): return seen.append")
    install(tmp_path, monkeypatch, log_readers="one = readers:reader\nnone = builtins:print")
    log.read_lines("api")
    try:
        log.configure(level="warning", format="json", role="api", fd=fd)
        log.log.debug("attempt.ended", ms=1)
        seen = importlib.import_module("readers").seen
    finally:
        monkeypatch.undo()
        log.read_lines("api")
    log.configure(level="warning", format="json", role="api", fd=fd)
    log.log.warning("role.stopping")
    os.close(fd)

    assert [(line["event"], line["level"], line["ms"]) for line in seen] == [
        ("attempt.ended", "debug", 1)
    ]
    assert [json.loads(line)["event"] for line in path.read_text().splitlines()] == [
        "role.stopping"
    ]
