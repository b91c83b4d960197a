"""Pages for those who look after a site: the last hour, queues, pools, workers, costs, the system."""

import re
from collections.abc import Mapping

import httpx

from api.live import LiveWorker, fold
from api.test_users import add

N_JOBS = 3


async def test_home_draws_the_last_hour(
    http: httpx.AsyncClient, worker: LiveWorker, database: dict[str, str]
) -> None:
    await http.post("/v1/billing-projects", json={"name": "genes", "cost_max": 10})
    await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}] * N_JOBS})
    first, second = await worker.claim(2)
    await worker.start([first, second])
    await worker.end([first])
    await fold(database["weft_driver"])
    minutes = (await http.get("/v1/overview/minutes")).json()["items"]
    page = (await http.get("/ui")).text

    assert len(minutes) == 60
    assert sum(one["n_succeeded"] for one in minutes) == 1
    assert (minutes[-1]["n_waiting"], minutes[-1]["n_running"]) == (1, 1)
    for series in ("n_running", "n_waiting", "n_succeeded"):
        assert f'<rect class="c-{series}"' in page
    assert '<rect class="c-n_failed"' not in page
    assert re.search(r'<meter max="2.0" value="\d', page)
    assert re.search(r"<bdi>genes</bdi></a></td><td class=\"n\">0</td>", page)
    bob = await add(http, "bob")
    others = (await http.get("/v1/overview/minutes", headers=bob)).json()["items"]
    assert {tuple(list(one.values())[1:]) for one in others} == {(0, 0, 0, 0, 0)}
    assert "<rect" not in (await http.get("/ui", headers=bob)).text.partition("Newest")[0]
