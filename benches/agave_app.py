"""What benches of doors share: a client of a home, and an application that does nothing."""

import json
from pathlib import Path
from typing import Final

import httpx

from weft.run.home import Home

_APP: Final = {
    "name": "bench",
    "version": "1.0",
    "templatePath": "wrapper.sh",
    "deploymentPath": ".",
    "executionSystem": "local",
    "inputs": [],
    "parameters": [],
}


def http_client(home: Home) -> httpx.AsyncClient:
    """Return a client that sends the token of the home's own user."""
    known = json.loads(home.client_file.read_bytes())
    headers = {"authorization": f"Bearer {known['token']}"}
    return httpx.AsyncClient(base_url=known["url"], headers=headers, timeout=60)


def app_folder(parent: Path) -> Path:
    """Make the folder of an application that does nothing, `bench-1.0`."""
    folder = parent / "bench-app"
    folder.mkdir()
    (folder / "app.json").write_text(json.dumps(_APP))
    (folder / "wrapper.sh").write_text("exit 0\n")
    return folder
