"""The output of a job that a cached result stands for."""

import json
import re
from pathlib import Path

import httpx
import pytest

from e2e.conftest import Weft
from weft import Client, aio
from weft.core.errors import OutputGone

pytestmark = pytest.mark.slow
SCRIPT = "echo out-$(date +%N)-$X; echo err-$X >&2"
LONG = "head -c 200000 /dev/zero | tr '\\0' 'a'; date +%N"


def twice(weft: Weft, *words: str) -> tuple[bytes, bytes]:
    """Run a command two times; return what both wrote to standard output."""
    first, second = (weft.run(*words, cwd=weft.home) for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    return first.stdout, second.stdout


def test_commands_print_it_again(weft: Weft) -> None:
    seen, again = twice(weft, "each", "--cache", "--", "sh", "-c", SCRIPT, ":::", "a", "b")
    assert seen.count(b"out-") == 2
    assert again == seen
    seen, again = twice(weft, "run", "--cache", "--", "sh", "-c", SCRIPT)
    assert seen.startswith(b"out-")
    assert again == seen
    shown = twice(weft, "run", "--cache", "--json", "--", "sh", "-c", SCRIPT)
    first, second = map(json.loads, shown)
    assert (first["stdout"], first["stderr"]) == (second["stdout"], second["stderr"])
    assert "outputs_of" in second
    seen, again = twice(weft, "each", "--cache", "--", "sh", "-c", LONG, ":::", "c")
    assert len(seen) > 200_000
    assert again == seen


@pytest.fixture(scope="module")
def batch(weft: Weft) -> str:
    """Return a batch of which two jobs did not run, and one did."""
    known = [{"script": SCRIPT, "env": {"X": x}, "cache": "inputs"} for x in "12"]
    others = [{"script": "echo out-0-3; echo err-3 >&2"}]
    weft.told("submit", "-", "--wait", stdin=json.dumps({"jobs": known}).encode())
    document = json.dumps({"jobs": [*known, *others]}).encode()
    found = weft.told("submit", "-", stdin=document).decode().strip()
    weft.told("wait", found)
    assert "outputs_of" in json.loads(weft.told("status", f"{found}.j2", "--json"))
    return found


@pytest.mark.parametrize("words", [[], ["--plain"], ["-f"], ["--grep", "out|err"], ["--json"]])
def test_logs_of_a_batch_have_it(weft: Weft, batch: str, words: list[str]) -> None:
    shown = weft.run("logs", batch, *words)
    text = (shown.stdout + shown.stderr).decode()
    assert set(re.findall("out-[0-9]+-([0-9])|err-([0-9])", text)) == {
        pair for n in "123" for pair in ((n, ""), ("", n))
    }
    assert "never started" not in text


def test_all_readers_of_one_job_have_it(weft: Weft, batch: str, tmp_path: Path) -> None:
    job = f"{batch}.j2"
    for words in ([], ["-f"], ["--stream", "stderr"], ["--json"], ["--find", "err"]):
        shown = weft.run("logs", job, *words)
        assert shown.returncode == 0, shown.stderr
        assert b"err-2" in shown.stdout + shown.stderr
    found = weft.run("logs", batch, "--find", "err-2").stderr.decode()
    assert (job in found, f"{batch}.j1" in found) == (True, False)
    weft.told("logs", batch, "--to", str(tmp_path))
    kept = sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("stdout.log"))
    assert kept == [f"{batch}/j{job}/stdout.log" for job in ("1/a0", "2/a0", "3/a1")]
    assert b"-2\n" in Path(tmp_path, batch, "j2/a0/stdout.log").read_bytes()


async def test_clients_return_it(weft: Weft, batch: str) -> None:
    number = int(batch[1:])
    with Client(home=weft.home) as client:
        job = client.get_batch(number).get_job(2)
        assert "err-2" in job.log()
        assert job.log(stream="stderr") == "err-2\n"
    async with aio.Client(home=weft.home) as client:
        one = (await client.get_batch(number)).get_job(2)
        assert "err-2" in await one.log()
        assert {event.kind async for event in one.follow_log()} == {"stdout", "stderr", "end"}


def test_pages_show_it(weft: Weft, batch: str) -> None:
    known = json.loads((weft.home / "client.json").read_text())
    headers = {"authorization": f"Bearer {known['token']}"}
    path = f"{known['url']}/ui/batches/{batch[1:]}/jobs/2"
    assert "err-2" in httpx.get(path, headers=headers).text
    assert "err-2" in httpx.get(f"{path}/log", headers=headers).text


def test_it_goes_with_the_batch_that_made_it(weft: Weft) -> None:
    document = json.dumps({"jobs": [{"script": "date +%N", "cache": "inputs"}]}).encode()
    first, second = (weft.told("submit", "-", "--wait", "--json", stdin=document) for _ in "12")
    first_id, second_id = (json.loads(one)["id"] for one in (first, second))
    weft.told("delete", f"b{first_id}", "--yes")
    shown = weft.run("logs", f"b{second_id}.j1")
    assert b"the batch of that one was deleted" in shown.stderr
    assert shown.returncode == OutputGone.exit_code
