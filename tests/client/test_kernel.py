"""What a real notebook is told while it waits for a batch."""

import asyncio
import json
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from client.http_server import serving, stream
from client.test_notebook import DOCUMENT
from client.test_watch import OPEN, Told, event

pytestmark = pytest.mark.heavy
ROOT = Path(__file__).resolve().parents[2]
FOLDERS = f"{ROOT / 'src'}:{sysconfig.get_path('purelib')}"
RUNNING = {**DOCUMENT, "name": "night"}
ENDED = {**RUNNING, "state": "failure", "complete": True, "n_completed": 10, "n_running": 0}
WAITING = "import weft; weft.Client({url!r}, 't').get_batch(7).wait()['complete']"
ASYNCHRONOUS = """
from weft import aio
async with aio.Client({url!r}, 't') as client:
    batch = await client.get_batch(7)
    await batch.wait()
"""


def told_by_kernel(cell: str) -> list[Any]:
    """Return the messages of a kernel that runs a cell; skip the test where there is no kernel."""
    made = subprocess.run(
        [ROOT / "tools" / "environment.sh", "notebook"],
        check=False,
        capture_output=True,
        text=True,
    )
    if made.returncode:
        pytest.skip(made.stderr.strip()[-500:])
    python = ROOT / ".tools" / "notebook" / "bin" / "python"
    program = Path(__file__).with_name("notebook.py")
    done = subprocess.run(
        [python, program, FOLDERS, cell], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("cell", [WAITING, ASYNCHRONOUS])
async def test_a_cell_that_waits_has_one_card_that_changes(cell: str) -> None:
    looks = [json.dumps(one).encode() for one in (RUNNING, RUNNING, ENDED)]
    told = Told([stream(OPEN, event("batch.complete", groups=[0]), ends=False)], looks)
    async with serving(told) as server:
        messages = await asyncio.to_thread(told_by_kernel, cell.format(url=server.url))

    kinds = [one["msg_type"] for one in messages]
    assert "error" not in kinds, messages
    shown = [one["content"] for one in messages if one["msg_type"] == "display_data"]
    changed = [one["content"] for one in messages if one["msg_type"] == "update_display_data"]
    assert len(shown) == 1
    assert changed
    assert {one["transient"]["display_id"] for one in changed} == {
        shown[0]["transient"]["display_id"]
    }
    assert "running, 1 failed, 1 cancelled · 4/10 (40%)" in shown[0]["data"]["text/html"]
    assert shown[0]["data"]["text/plain"] == "b7: 4/10, 3 running, 1 failed"
    assert "failure · 10/10 (100%)" in changed[-1]["data"]["text/html"]
    assert changed[-1]["data"]["text/plain"] == "b7: 10/10, 1 failed"
