"""How long jumps and searches in a log of a gigabyte take, and what memory they need."""

import random
import re
import time
from collections.abc import Mapping, Sequence

import httpx

from benches.chromium import find_chromium, open_tab
from benches.sessions import Session, log_in
from weft.bench.figures import percentile
from weft.bench.plan import BenchFailed
from weft.bench.process_tree import use_by_role
from weft.bench.throwaway import client_of, url_of
from weft.client.api import Api
from weft.run.home import Home

LOG_BYTES = 1_000_000_000
JUMPS = 200
SETTINGS = "stream_bytes_max = 4_000_000_000\n"
"""In `weft.toml` of the home."""
SCRIPT = 'yes "$1" | head -c "$2"'
LINE = "2026-11-22 10:00:00 step of an epoch, loss 0.0123, accuracy 0.9"
P99 = 99
_JUMP = """new Promise(done => {
  const begun = performance.now(), link = document.querySelector('.pages a');
  new MutationObserver((_, observer) => {
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
  }).observe(document.querySelector('main'), {childList: true});
  link.href = 'ADDRESS';
  link.click();
})"""
"""A reader presses a link to another place; two frames later the new text is on the screen."""
_ON = re.compile(r"from=([0-9]+)[^>]*>(?:Find|Look) further<")
SMALL_SHARE = 1000
"""How many times smaller the log is beside which memory is compared."""


async def measure_log(home: Home, up_pid: int, n_bytes: int, jumps: int) -> dict[str, object]:
    """Return milliseconds of jumps, and the memory of the api after jumps in a small log and after
    those in the long one. The home has `SETTINGS`.
    """
    async with client_of(home) as client, httpx.AsyncClient(base_url=url_of(home)) as http:
        session = await log_in(http, home.token())
        await _jump(http, *await _write(client, n_bytes // SMALL_SHARE), jumps)
        before = use_by_role(home, up_pid)["api"].rss_mb
        path, size = await _write(client, n_bytes)
        took = await _jump(http, path, size, jumps)
        searched = {
            "log_find_ms": await _search(http, path, {"q": "no such text"}),
            "log_error_ms": await _search(http, path, {"errors": "true"}),
        }
        after = use_by_role(home, up_pid)["api"].rss_mb
        drawn = await _draw(session, path, size, max(1, jumps // 10))
    return {
        "log_bytes": size,
        "log_jump_p50_ms": round(percentile(took, 50), 2),
        "log_jump_p99_ms": round(percentile(took, P99), 2),
        "log_jump_max_ms": round(max(took), 2),
        "log_api_rss_mb": {"before": before, "after": after},
        "log_memory_mb": round(after - before, 1),
        **searched,
        **drawn,
    }


async def _write(client: Api, n_bytes: int) -> tuple[str, int]:
    """Let a job write this number of bytes; return the path of its page, and what is kept."""
    job = {"command": ["sh", "-c", SCRIPT, "sh", LINE, str(n_bytes)]}
    batch_id = int((await client.create_batch({"jobs": [job]}))["id"])
    n_succeeded = 0
    async for batch in client.watch_batch(batch_id):
        n_succeeded = batch["n_succeeded"]
    (attempt,) = await client.list_attempts(batch_id, 1)
    if not n_succeeded or attempt["log"]["truncated"]:
        raise BenchFailed("the log was not kept", detail=f"The attempt is {attempt}.")
    return f"/ui/batches/{batch_id}/jobs/1/log", int(attempt["log"]["stdout_bytes"])


async def _jump(http: httpx.AsyncClient, path: str, size: int, jumps: int) -> Sequence[float]:
    """Return how long each jump took until the page was there."""
    chance = random.Random(0)  # noqa: S311 (chooses what to read)
    took = []
    for _ in range(jumps):
        begun = time.perf_counter()
        answer = await http.get(path, params={"at": chance.randrange(size)})
        took.append((time.perf_counter() - begun) * 1000)
        if answer.is_error:
            raise BenchFailed(f"{path} was answered {answer.status_code}", detail=answer.text)
    return took


async def _search(http: httpx.AsyncClient, path: str, asked: Mapping[str, str]) -> object:
    """Search the whole log for what is not there, step by step, as a reader presses the link that
    goes on; return how long a step and all of them took.
    """
    took: list[float] = []
    following: Mapping[str, str] | None = asked
    while following is not None:
        begun = time.perf_counter()
        answer = await http.get(path, params=following)
        took.append((time.perf_counter() - begun) * 1000)
        if answer.is_error or 'class="note"' not in answer.text:
            raise BenchFailed(f"{path} was answered {answer.status_code}", detail=answer.text)
        on = _ON.search(answer.text)
        following = None if on is None else {**asked, "from": on[1]}
    return {"steps": len(took), "max": round(max(took), 1), "all": round(sum(took), 1)}


async def _draw(session: Session, path: str, size: int, jumps: int) -> Mapping[str, object]:
    """Return the same in Chromium, until the text is drawn: of jumps on an open page, and of pages
    that are opened; and what its heap grew to.
    """
    program = find_chromium()
    if program is None:
        return {
            "log_jump_drawn_p99_ms": None,
            "log_page_drawn_p99_ms": None,
            "log_browser_mb": None,
        }
    chance = random.Random(1)  # noqa: S311 (as above)
    async with open_tab(program) as tab:
        await tab.log_in(session)
        addresses = [f"{path}?at={chance.randrange(size)}" for _ in range(2 * (1 + jumps))]
        opened = [await tab.draw(session.url + one) for one in addresses[: 1 + jumps]]
        jumped, heap_mb = [], []
        for one in addresses[1 + jumps :]:  # of both, the first one fills a cache
            jumped.append(float(await tab.evaluate(_JUMP.replace("ADDRESS", one))))
            heap_mb.append(await tab.heap_mb())
    return {
        "log_jump_drawn_p50_ms": round(percentile(jumped[1:], 50), 1),
        "log_jump_drawn_p99_ms": round(percentile(jumped[1:], P99), 1),
        "log_page_drawn_p99_ms": round(percentile(opened[1:], P99), 1),
        "log_browser_mb": {"first": heap_mb[0], "most": max(heap_mb)},
    }
