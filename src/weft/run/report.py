"""The file of `weft doctor --report`: what somebody needs who helps, and nothing secret."""

import os
import platform
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from weft import __version__
from weft.core.access.secret_variables import MASK, without_password
from weft.core.findings import Finding
from weft.run.home import Home
from weft.run.login import password_of
from weft.settings import Settings, all_declared, explain_settings, shown_value

LOG_LINES = 300
"""The last ones of each role."""
_TOKEN = re.compile(r"\bweft_\w*[A-Za-z0-9_-]{32,}|(?i:\bbearer\s+)\S+")


def write_report(file: Path, settings: Settings, findings: Sequence[Finding]) -> None:
    """Write a new file that only its owner reads. Raise `OSError`, such as `FileExistsError`."""
    home = Home(settings.home)
    sections = (
        ("versions", _versions()),
        ("findings", (f"{f.verdict} {f.check} {f.found} {f.advice}" for f in findings)),
        ("settings", _settings(home.path)),
        *((log.name, _last_lines(log)) for log in sorted(home.role_logs.glob("*.log"))),
    )
    text = "\n".join(line for title, lines in sections for line in (f"== {title}", *lines, ""))
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(without_secrets_of(home, text))


def without_secrets_of(home: Home, text: str) -> str:
    """Return a text without what is secret in a home, passwords of URLs, and tokens.

    Values are not judged by their names, as in causes of failures: in a log `"token":1` is a
    number that helps, and so is what follows it on the line.
    """
    dsns = {dsn for dsn in home.secrets().values() if "://" in dsn}
    known = {home.token(), home.callback_key(), *home.secret_keys(), *map(password_of, dsns)}
    for secret in filter(None, known):
        text = text.replace(secret, MASK)
    return _TOKEN.sub(MASK, without_password(text))


def _versions() -> Iterator[str]:
    yield f"weft {__version__}, Python {platform.python_version()}, {platform.platform()}"
    yield f"{os.cpu_count()} cores, {datetime.now(UTC).isoformat(timespec='seconds')}"


def _settings(home: Path) -> Iterator[str]:
    found, wrong = explain_settings({"home": home})
    declared = all_declared()
    for name, origin in found.items():
        if origin.where != "default":
            yield f"{name} = {shown_value(declared[name], origin.value)} ({origin.where})"
    if wrong is not None:
        yield f"wrong: {wrong.message}: {wrong.detail}"


def _last_lines(log: Path) -> Iterable[str]:
    with log.open(encoding="utf-8", errors="replace") as lines:
        return deque((line.rstrip("\n") for line in lines), LOG_LINES)
