"""All kinds of processes that are asked: one that misbehaves is ended, and harms nobody else."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest

from weft.run.isolated.kinds import KINDS
from weft.run.isolated.pool import Failed, NotStarted, Pool
from weft.run.isolated.process import Ended
from worker.spawner_process import until_gone

pytestmark = pytest.mark.slow
FOREIGN = """
import os, resource, signal, subprocess
from weft.run.isolated.kinds import Kind

def answer(what):
    if what == "late":
        child = subprocess.Popen(["sleep", "1000"])
        with open(os.path.dirname(__file__) + "/child", "w") as file:
            file.write(str(child.pid))
        signal.pause()
    if what == "much":
        return "x" * (32 << 20)
    if what == "deep":
        return eval("[" * 150 + "]" * 150)
    if what == "nothing":
        os._exit(0)
    if what == "dies":
        os.abort()
    if what == "raises":
        raise OSError("out of \\udcff order")
    if what == "memory":
        raise MemoryError
    if what == "recursion":
        raise RecursionError
    if what == "large":
        return 2**70
    print("x" * 1_000_000)
    if what == "limits":
        return [resource.getrlimit(one)[0] for one in (resource.RLIMIT_AS, resource.RLIMIT_CORE)]
    if what == "environment":
        return sorted(os.environ)
    return os.getpid()

def begin(site):
    if site == "broken":
        raise RuntimeError("no licence")
    if site == "silent":
        os._exit(0)
    return answer

Kind.load = lambda kind: begin
"""
AT_FAULT = {"much": str, "deep": Any, "dies": int, "pid": str}
DEADLINE_S = 60.0


@pytest.fixture(params=KINDS)
async def pool(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Pool]:
    """Give a pool of each kind, whose keys are what its processes are told."""
    (tmp_path / "sitecustomize.py").write_text(FOREIGN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = Pool(request.param, DEADLINE_S, lambda key: key)
    yield found
    await found.close()


async def test_bad_answer_ends_its_process_and_no_other(pool: Pool) -> None:
    other = await pool.ask("other", "", int)
    for what, kind in AT_FAULT.items():
        before = await pool.ask("bad", "", int)
        with pytest.raises(Ended) as ended:
            await pool.ask("bad", what, kind)
        assert not ended.value.by_others, what
        until_gone(before)
        assert await pool.ask("bad", "", int) != before, what
        assert await pool.ask("other", "", int) == other
    await pool.close()
    until_gone(other)
    assert pool.pids == []


@pytest.mark.heavy
async def test_late_answer_ends_its_process_with_what_it_started(
    pool: Pool, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "child")
    before, other = [await pool.ask(key, "", int) for key in ("bad", "other")]
    late = asyncio.create_task(pool.ask("bad", "late", int))
    child = int(await asyncio.to_thread((tmp_path / "child").read_text))
    assert await pool.ask("other", "", int) == other
    pool.within_s = 0.1
    hasty = asyncio.create_task(pool.ask("bad", "late", int))
    done, _ = await asyncio.wait([hasty], timeout=0.5 if pool.kind.is_serial else None)
    assert before in pool.pids  # it has a question yet
    assert bool(done) is not pool.kind.is_serial  # whose time begins with its turn
    late.cancel()
    await asyncio.wait([late])
    with pytest.raises(TimeoutError):
        await hasty
    pool.within_s = DEADLINE_S
    until_gone(before, child)
    (now,) = {*await asyncio.gather(*[pool.ask("bad", "", int) for _ in range(9)])}
    assert now != before


async def test_what_others_end_is_nobodys_fault(pool: Pool) -> None:
    before = await pool.ask("key", "", int)
    asked = asyncio.create_task(pool.ask("key", "late", int))
    await asyncio.sleep(0)
    os.kill(before, SIGKILL)
    for bad in (asked, pool.ask("key", "nothing", int)):
        with pytest.raises(Ended) as ended:
            await bad
        assert ended.value.by_others
    with pytest.raises(NotStarted):
        await pool.ask("silent", "", int)
    assert await pool.ask("key", "", int) != before


async def test_failures_are_answers(pool: Pool) -> None:
    """They cost no process; what is printed is no answer, and nothing secret is there."""
    before = await pool.ask("key", "", int)
    texts = {
        "raises": "OSError: out of \\udcff order",
        "memory": "MemoryError: ",
        "recursion": "RecursionError: ",
        "": "no licence",
    }
    for what, text in texts.items():
        with pytest.raises(Failed) as failed:
            await pool.ask("key" if what else "broken", what, int)
        failure = failed.value.failure
        assert failure.text == text
        assert failure.is_memory is (what == "memory")
        assert failure.is_loaded is bool(what)
    assert not pool.kind.is_json or await pool.ask("key", "large", int) == 2**70
    assert await pool.ask("key", "limits", list[int]) == [pool.kind.memory_bytes, 0]
    assert (
        {"MALLOC_ARENA_MAX"}
        <= {*await pool.ask("key", "environment", list[str])}
        <= {
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
            "MALLOC_ARENA_MAX",
            "PATH",
            "PYTHONPATH",
            "TZ",
        }
    )
    assert await pool.ask("key", "", int) == before
