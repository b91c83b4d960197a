"""`weft doctor --report`: all that helps, and no secret of the home."""

import json
from pathlib import Path

import pytest

from up.weft_up import run_weft, up

pytestmark = pytest.mark.heavy


def test_report_has_findings_settings_and_logs_and_no_secret(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    with up(home) as weft:
        weft.until_ready()
        secrets = [
            value
            for name in ("secrets.json", "client.json", "callback.json", "secret-keys.json")
            for value in texts_of(json.loads((home / name).read_text()))
            if len(value) >= 32 and "://" not in value
        ]
        with (home / "log/api.log").open("a") as log:  # as if a role had been careless
            log.write("\n".join((*secrets, "https://me:hunter2@example.org", "Bearer abc.def")))
        first, again = (
            run_weft("doctor", "--report", str(file), WEFT_HOME=str(home), WEFT_HOST="::1")
            for _ in range(2)
        )
    text = file.read_text()

    assert first.returncode == 0, first.stdout
    assert "read it before you pass it on" in first.stderr
    assert again.returncode == 2
    assert "File exists" in again.stderr
    assert file.stat().st_mode & 0o077 == 0
    assert "host = ::1 (" in text
    assert '"event":"api.listening"' in text.replace(" ", "")
    assert [one for one in (*secrets, "hunter2", "abc.def") if one in text] == []


def texts_of(document: object) -> list[str]:
    """Return all texts in a document; of a DSN its password, too."""
    if isinstance(document, dict):
        return [text for value in document.values() for text in texts_of(value)]
    if isinstance(document, list):
        return [text for value in document for text in texts_of(value)]
    text = str(document)
    return [text, text.rpartition("@")[0].rpartition(":")[2]]
