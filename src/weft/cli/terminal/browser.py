"""Open pages in a browser of this machine."""

import os
import sys
from html import escape
from pathlib import Path
from typing import Any


def find_browser() -> Any:  # noqa: ANN401 (the controllers of webbrowser have no common type)
    """Return a browser with windows of its own, or the one that BROWSER names; None: none."""
    import webbrowser  # noqa: PLC0415 (it looks for programs)

    has_windows = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    try:
        return webbrowser.get() if has_windows else None
    except webbrowser.Error:
        return None


def open_privately(browser: Any, url: str, home: Path) -> bool:  # noqa: ANN401
    """Open a file that leads to a page: everybody here can see a program's arguments."""
    file = home / "login.html"
    try:
        file.unlink(missing_ok=True)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:
        return False
    with os.fdopen(handle, "w") as page:
        page.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(url)}">')
    return bool(browser.open(file.as_uri()))
