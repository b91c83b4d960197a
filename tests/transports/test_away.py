"""A broker that is away while jobs wait for it: one incident, for those whose jobs they are."""

import json
import re
from typing import Any

import httpx
import pytest

from e2e.conftest import until
from transports.rabbit_broker import RabbitBroker
from transports.site import Site
from transports.test_rabbitmq import site

pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")

__all__ = ["site"]
pytestmark = [pytest.mark.engine(name="rabbitmq"), pytest.mark.timeout(300)]


def as_user(site: Site, name: str) -> httpx.Client:
    """Return a client of a new user, who sees only what is theirs."""
    token = site.ask("user", "add", name)["token"]
    known = json.loads((site.home / "client.json").read_text())
    return httpx.Client(
        base_url=known["url"], headers={"authorization": f"Bearer {token}"}, timeout=30
    )


def conditions(http: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = http.get("/v1/conditions").json()["items"]
    return found


def kinds_until(http: httpx.Client, last: str) -> list[str]:
    """Return the kinds of the events that a user is told, up to the first of this kind."""
    found = []
    with http.stream("GET", "/v1/events", params={"since": "0-0"}) as stream:
        for line in stream.iter_lines():
            if line.startswith("event:"):
                found.append(line.removeprefix("event:").strip())
                if found[-1] == last:
                    break
    return found


def test_one_incident_is_there_while_the_broker_is_away_for_those_whose_jobs_wait(
    site: Site, rabbit: RabbitBroker
) -> None:
    job = {"command": ["true"], "queue": "q"}
    batch = {"billing_project": "hers", "jobs": [{**job, "count": 3}]}
    site.ask("billing", "project", "create", "hers")
    with as_user(site, "ada") as owner, as_user(site, "eve") as stranger:
        site.ask("billing", "project", "members", "hers", "--add", "ada")
        until(lambda: site.transport("rabbit")["looked_at"] is not None)
        rabbit.kill()
        made = owner.post("/v1/batches", json=batch)
        assert made.status_code == 201, made.text
        batch_id = made.json()["batch_id"]
        until(lambda: [one["n_jobs"] for one in conditions(owner)] == [3])
        (found,) = conditions(owner)
        again = owner.post("/v1/batches", json=batch)
        assert again.status_code == 201, again.text
        until(lambda: [one["n_jobs"] for one in conditions(owner)] == [6])
        page = owner.get("/ui/incidents").text
        why = owner.get(f"/v1/batches/b{batch_id}/jobs/1/why").json()
        number = found["condition_id"]
        shown = owner.get(f"/v1/conditions/c{number}")
        refused = owner.post(f"/v1/conditions/c{number}/test", json={})
        unseen = stranger.get(f"/v1/conditions/c{number}")
        nothing = conditions(stranger)
        counted = owner.get("/metrics").text
        (operators,) = site.ask("condition", "ls")
        rabbit.start()
        until(lambda: not conditions(owner))
        until(lambda: owner.get(f"/v1/batches/b{batch_id}").json()["state"] == "success")

        assert (found["condition"], found["tester"]) == ("transport_unavailable", "transport")
        assert found["parameters"] == {"transport": "rabbit"}
        assert found["message"]
        assert shown.json()["condition_id"] == number
        assert refused.status_code == 404
        assert "not one that jobs are blocked on" in refused.text
        assert operators["n_jobs"] == 6
        assert "transport_unavailable" in page
        assert "transport rabbit, which is away since" in json.dumps(why)
        assert re.search(r"^weft_conditions\{[^}]*\} 1\.0$", counted, re.MULTILINE)
        assert nothing == []
        assert unseen.status_code == 404
        assert "condition.opened" in kinds_until(owner, "condition.closed")
        made = stranger.post("/v1/batches", json={"jobs": [job]})
        assert made.status_code == 201, made.text
        heard = kinds_until(stranger, "batch.complete")
        assert [one for one in heard if one.startswith("condition")] == []
    site.prove_audit()
