"""The door for Agave on a server: what a submission asks for, and where documents lead."""

import httpx
import pytest

from api.agave_door import FULL, submitted
from api.hidden_pairs import statements
from weft.run.doors import api_doors

LIVE_DOORS = api_doors()


async def test_a_submission_asks_for_each_thing_once(http: httpx.AsyncClient) -> None:
    """Its answer is what a look at the new job says."""
    await submitted(http)
    before = statements()
    made = (await http.post("/jobs/v2", json={**FULL, "inputs": {}})).json()["result"]
    calls = {name: n - before.get(name, 0) for name, n in statements().items()}
    calls = {name: n for name, n in calls.items() if n}
    found = (await http.get(f"/jobs/v2/{made['id']}")).json()["result"]

    assert calls == dict.fromkeys(("find_apps", "list_stores", "tenant_name", "submit"), 1)
    assert made == found


@pytest.mark.heavy
async def test_each_link_of_a_job_answers_in_the_envelope(http: httpx.AsyncClient) -> None:
    whole = (await http.get(f"/jobs/v2/{await submitted(http)}")).json()["result"]
    answers = {name: await http.get(link["href"]) for name, link in whole["_links"].items()}
    wrong = [name for name, one in answers.items() if "version" not in one.json()]

    assert {"executionSystem", "archiveSystem", "owner"} <= answers.keys()
    assert not wrong
