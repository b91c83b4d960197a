"""`weft query`, and lists of batches and jobs, with a server."""

import json

import httpx

from api.conftest import api, command, doors, http, settings
from api.live import Commands

__all__ = ["api", "command", "doors", "http", "settings"]  # fixtures


async def test_batches_are_listed_by_a_saved_query_and_in_an_order(
    http: httpx.AsyncClient, command: Commands
) -> None:
    kid = {"name": "kid", "parents": [1]}
    jobs = [{"name": "a.top"}, kid, kid]
    ids = [
        (await http.post("/v1/batches", json={"name": name, "jobs": jobs})).json()["id"]
        for name in "bca"
    ]

    async def weft(*words: str, code: int = 0) -> str:
        exit_code, out, err = await command(*words)
        assert exit_code == code, words
        return err if code else out

    async def listed(*words: str) -> list[int]:
        return [one["id"] for one in json.loads(await weft("ls", "--json", *words))]

    assert await listed("--sort", "name") == [ids[2], ids[0], ids[1]]
    assert await listed("--sort", "name", "--reverse", "-n", "2") == [ids[1], ids[0]]
    assert await listed("--reverse") == ids
    assert await listed("--sort", "completed") == []
    await weft("query", "save", "not-a", "name != a")
    assert await listed("@not-a", "--sort", "created") == [ids[1], ids[0]]
    assert "name != a" in await weft("query", "ls")
    assert "ORDER BY b.name" in await weft("ls", "@not-a", "--sort", "name", "--explain")
    await weft("query", "rm", "not-a")
    assert json.loads(await weft("query", "ls", "--json")) == []
    assert "saved query not-a does not exist" in await weft("ls", "@not-a", code=2)
    children = json.loads(await weft("jobs", f"b{ids[0]}.j1", "--json"))
    assert [one["job_id"] for one in children] == [2, 3]
    assert json.loads(await weft("jobs", "b.a.top", "--json")) == children
    assert "several jobs named 'kid'" in await weft("jobs", f"b{ids[0]}.kid", code=2)
    parents = json.loads(await weft("jobs", f"b{ids[0]}.j3", "--parents", "--json"))
    assert [one["job_id"] for one in parents] == [1]
    assert "what has parents" in (await weft("jobs", f"b{ids[0]}", "--parents", code=2)).lower()
    assert "chosen from" in await weft("jobs", f"b{ids[0]}.j1", "state = failed", code=2)


async def test_job_with_many_parents_names_some_and_all_are_compared(
    http: httpx.AsyncClient, command: Commands
) -> None:
    """Also what is enough of each: nobody began too early whose parent was only to begin."""
    needs = {101: "50%", 102: "50%", 118: "end", 119: "start"}
    loose = [{"of": of, "need": need} for of, need in needs.items()]
    jobs = [*([{}] * 120), {"parents": [*({*range(1, 121)} - {*needs}), *loose]}]
    batch = (await http.post("/v1/batches", json={"jobs": jobs})).json()["id"]

    _, shown, _ = await command("status", f"b{batch}.j121")
    assert f"j1–j100 …, 120 in all: `weft jobs b{batch}.j121 --parents`" in shown
    _, order, _ = await command("check-order", f"b{batch}", "--json")
    assert json.loads(order)["n_parents"] == 117
    found = (await http.get(f"/v1/batches/{batch}/jobs/121/parents?limit=999")).json()["items"]
    assert {one["job_id"]: one["need"] for one in found if "need" in one} == needs
