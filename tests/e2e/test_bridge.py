"""`weft.bridge` on a real weft: what every tool's bridge relies on."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.conftest import Weft
from weft.bridge import Bridge
from weft.core.errors import InvalidDocument, JobNotFound

WITHIN_S = 60
SLEEPS = {"command": ["sleep", "600"]}
KILLED = """
import json, sys
from weft.bridge import Bridge
bridge = Bridge("killed")
jobs = [bridge.submit(job) for job in json.loads(sys.argv[1])]
print(*(job.ref.result(60) for job in jobs), flush=True)
sys.stdin.read()
"""


def shell(text: str, name: str | None = None) -> dict[str, object]:
    return {"name": name, "command": ["sh", "-c", text]}


@pytest.fixture
def bridge(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bridge]:
    monkeypatch.setenv("CALLER", "here")
    monkeypatch.setenv("WEFT_TOKEN", json.loads((weft.home / "client.json").read_text())["token"])
    with Bridge(home=weft.home) as bridge:
        yield bridge


def test_ends_of_jobs_that_were_sent_together_are_told(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, requests = bridge._batch._api, list[int]()
    send = api.create_update

    async def counted(*args: Any) -> Any:  # noqa: ANN401 (as `create_update`)
        requests.append(len(args[1]["jobs"]))
        return await send(*args)

    monkeypatch.setattr(api, "create_update", counted)
    texts = [
        "exit 3",
        "kill -9 $$",
        '[ "$CALLER" = here ] && [ -z "$WEFT_TOKEN" ]',
        *["true"] * 40,
    ]
    jobs = [bridge.submit(shell(text)) for text in texts]
    ends = [job.end.result(WITHIN_S) for job in jobs]

    assert [(end.state, end.exit_code, end.signal) for end in ends[:3]] == [
        ("failed", 3, None),
        ("failed", None, 9),
        ("success", 0, None),
    ]
    assert {end.state for end in ends[3:]} == {"success"}
    assert (sum(requests), len(requests) < 5) == (len(jobs), True)
    assert len({job.ref.result().partition(".")[0] for job in jobs}) == 1


def test_a_refused_job_is_alone(bridge: Bridge) -> None:
    documents: list[dict[str, object]] = [shell("true"), {"comand": []}, shell("true")]
    jobs = [bridge.submit(document) for document in documents]

    assert [job.end.result(WITHIN_S).state for job in (jobs[0], jobs[2])] == ["success"] * 2
    for future in (jobs[1].ref, jobs[1].end):
        with pytest.raises(InvalidDocument, match="comand"):
            future.result(WITHIN_S)
    with pytest.raises(JobNotFound):
        bridge.attach(f"{jobs[0].ref.result().partition('.')[0]}.j99").end.result(WITHIN_S)


def test_a_killed_process_is_gone_on_with(weft: Weft) -> None:
    documents = [shell("true", "short"), {**SLEEPS, "name": "long"}]
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, json.dumps(documents)],
        env=weft.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        refs = process.stdout.readline().split()
        process.kill()
    with Bridge("killed", home=weft.home) as bridge:
        assert bridge.refs_by_name() == dict(zip(("short", "long"), refs, strict=True))
        short, long, same = map(bridge.attach, (*refs, refs[1]))
        assert short.end.result(WITHIN_S).state == "success"
        long.claimed.result(WITHIN_S)
        last = bridge.submit(shell("true"))
        assert last.ref.result(WITHIN_S).partition(".")[0] == refs[0].partition(".")[0]
        bridge.cancel(refs)
        assert {one.end.result(WITHIN_S).state for one in (long, same)} == {"cancelled"}


def test_interrupt_cancels_all_within_the_grace(weft: Weft) -> None:
    told = list[str]()
    bridge = Bridge("interrupted", home=weft.home)
    jobs = [bridge.submit(SLEEPS) for _ in range(3)]
    jobs[0].claimed.result(WITHIN_S)
    for job in jobs:
        job.end.add_done_callback(lambda end: told.append(end.result().state))
    with pytest.raises(KeyboardInterrupt), bridge:
        raise KeyboardInterrupt

    assert told == ["cancelled"] * 3
    with Bridge("interrupted", home=weft.home) as again:  # a cancelled batch takes no jobs
        assert again.submit(shell("true")).end.result(WITHIN_S).state == "success"


def test_the_first_cause_says_why_nothing_happens(bridge: Bridge) -> None:
    assert bridge.why() is None
    job = bridge.submit({**SLEEPS, "not_before": "2099-01-01T00:00:00Z"})
    ref = job.ref.result(WITHIN_S)

    assert "2099" in (bridge.why() or "")
    assert bridge.why(ref) == bridge.why()
    bridge.cancel_all()
    assert job.end.result(WITHIN_S).state == "cancelled"
