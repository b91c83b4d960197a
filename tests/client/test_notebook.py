"""What a notebook shows of a batch."""

import asyncio
import json
import re

from client.http_server import serving
from client.test_watch import Told
from weft import Client, aio
from weft.client.card import card_html

COUNTS = {
    "n_jobs": 10, "n_completed": 4, "n_succeeded": 2, "n_failed": 1, "n_errored": 0,
    "n_cancelled": 1, "n_running": 3,
}  # fmt: skip
HOSTILE = '<script>alert(1)</script>"\u202e\x1b[2J' + "x" * 10_000
DOCUMENT = {
    **COUNTS, "id": 7, "state": "running", "complete": False, "name": HOSTILE, "cost": 1.5,
    "duration_ms": 65_000,
}  # fmt: skip


def test_a_card_has_bar_and_words_and_no_script() -> None:
    page = card_html("b7", DOCUMENT)

    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search("[\u202e\x1b]", page)
    assert len(page) < 5000
    assert "running, 1 failed, 1 cancelled · 4/10 (40%) · cost 1.50 · 1:05" in page
    assert "cost &lt; 0.01" in card_html("b7", {**DOCUMENT, "cost": 0.001})
    assert [*re.findall(r"</span>([\d,]+ \w+)</span>", page)] == [
        "2 succeeded", "1 failed", "1 cancelled", "3 running", "3 waiting",
    ]  # fmt: skip
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
