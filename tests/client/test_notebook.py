"""What a notebook shows of a batch, and what a real one is told while it waits."""

import asyncio
import json
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from client.http_server import serving, stream
from client.test_watch import OPEN, Told, event
from weft import Client, aio
from weft.client.card import card_html

COUNTS = {
    "n_jobs": 10,
    "n_completed": 4,
    "n_succeeded": 2,
    "n_failed": 1,
    "n_errored": 0,
    "n_cancelled": 1,
    "n_running": 3,
}
HOSTILE = '<script>alert(1)</script>"\u202e\x1b[2J' + "x" * 10_000
DOCUMENT = {
    **COUNTS,
    "id": 7,
    "state": "running",
    "complete": False,
    "name": HOSTILE,
    "cost": 1.5,
    "duration_ms": 65_000,
}
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


def test_a_card_has_bar_and_words_and_no_script() -> None:
    page = card_html("b7", DOCUMENT)

    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search("[\u202e\x1b]", page)
    assert len(page) < 5000
    assert "running, 1 failed, 1 cancelled · 4/10 (40%) · cost 1.50 · 1:05" in page
    assert "cost &lt; 0.01" in card_html("b7", {**DOCUMENT, "cost": 0.001})
    assert [*re.findall(r"</span>([\d,]+ \w+)</span>", page)] == [
        "2 succeeded",
        "1 failed",
        "1 cancelled",
        "3 running",
        "3 waiting",
    ]
    # The bar has the same parts; text has no colour of its own, so it is seen on light and dark.
    assert [*map(int, re.findall(r"flex:(\d+) 0 0", page))] == [2, 1, 1, 3, 3]
    assert not re.search(r"[; \"]color:", page)


def test_an_empty_batch_has_a_card() -> None:
    empty = {**DOCUMENT, **dict.fromkeys(COUNTS, 0), "name": None}

    assert "0/0 ·" in card_html("b8", empty)


async def test_the_waiting_client_shows_what_is_so_now() -> None:
    """A closed client, or a server that is gone, leaves a notebook with the plain name."""

    def shown_by(url: str) -> list[str | None]:
        client = Client(url, "t")
        batch = client.get_batch(7)
        shown = batch._repr_html_()
        client.close()
        return [shown, batch._repr_html_()]

    looks = [json.dumps({**DOCUMENT, "n_completed": n}).encode() for n in (4, 5)]
    async with serving(Told([], looks)) as server:
        shown, closed = await asyncio.to_thread(shown_by, server.url)

    assert shown is not None
    assert "5/10" in shown
    assert closed is None


async def test_the_asynchronous_client_shows_what_it_saw_last() -> None:
    looks = [json.dumps({**DOCUMENT, "n_completed": n}).encode() for n in (4, 5)]
    async with serving(Told([], looks)) as server, aio.Client(server.url, "t") as client:
        batch = await client.get_batch(7)
        before = batch._repr_html_()
        await batch.status()
        shown = batch._repr_html_()

    assert before is not None
    assert "4/10" in before
    assert shown is not None
    assert "5/10" in shown


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


@pytest.mark.heavy
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
