"""Limits of what is used over HTTP, by the clients and by the command."""

import json

import httpx

from api.live import TOKEN, Commands, LiveApi
from cases import cases
from weft.aio import Client


async def test_wrong_limit_is_refused(http: httpx.AsyncClient) -> None:
    for path, edit, code in [
        ("users/nobody", {"amount_max": 1}, "API.USER_NOT_FOUND"),
        ("billing-projects/none", {"amount_max": 1}, "API.PROJECT_NOT_FOUND"),
        ("batches/999999", {"amount_max": 1}, "API.BATCH_NOT_FOUND"),
        ("users/tester", {"amount_max": -1}, "API.WRONG_TYPE"),
        ("users/tester", {"amount_max": 10**400}, "API.WRONG_TYPE"),
        ("users/tester", {"amount_max": 1, "measure": "tape"}, "API.WRONG_TYPE"),
        ("users/tester", {"on_limit": "stop"}, "API.WRONG_TYPE"),
    ]:
        answer = await http.patch(f"/v1/{path}/limit", json=edit)

        assert answer.json()["code"] == code
        assert (await http.get("/v1/limits")).json()["items"] == []
        wrong = await http.get("/v1/limits?batch=x")
        assert wrong.json()["code"] == "API.INVALID_PARAMETER"


@cases("is_project", [False, True])
async def test_soft_limit_above_the_limit_is_told_in_the_words_of_who_wrote_it(
    http: httpx.AsyncClient, command: Commands, *, is_project: bool
) -> None:
    """By the API, the command and the door for Hail's client."""
    most, soft = [f"{'cost' if is_project else 'amount'}_{name}max" for name in ("", "soft_")]
    path = "/v1/billing-projects/default" if is_project else "/v1/users/tester/limit"
    start = ["billing", "project", "limit", "default"]
    start = start if is_project else ["limit", "set", "--user", "tester"]
    hint = "Set the soft limit to at most 5, or the limit to at least 8; one change may set both."
    for stored, edit, words, field, option, why in (
        ({}, {most: 5, soft: 8}, ["5", "--soft", "8"], soft, "--soft", "it is above the limit"),
        ({most: 5, soft: None}, {soft: 8}, ["--soft", "8"], soft, "--soft",
         "it is above the limit that was set before"),
        ({most: 9, soft: 8}, {most: 5}, ["5"], most, "the amount",
         "it is below the soft limit that was set before"),
    ):  # fmt: skip
        assert (await http.patch(path, json=stored)).status_code == 200
        refused = await http.patch(path, json=edit)
        problem = refused.json()
        exit_code, _, said = await command(*start, *words)

        assert (refused.status_code, problem["code"]) == (400, "API.SOFT_LIMIT_ABOVE_LIMIT")
        assert problem["title"] == "the soft limit 8 is above the limit 5"
        assert problem["hint"] == hint
        assert problem["errors"] == [{"pointer": f"/{field}", "message": why}]
        assert exit_code == 2
        assert said.split() == f"weft: {problem['title']} {option}: {why}. {hint}".split()


async def test_limit_that_is_no_number_is_refused(http: httpx.AsyncClient) -> None:
    for text in ("NaN", "Infinity", "1e400"):
        answer = await http.patch("/v1/users/tester/limit", content=f'{{"amount_max": {text}}}')
        assert answer.status_code == 400


async def test_clients_and_the_command_line_set_and_list_limits(
    http: httpx.AsyncClient, api: LiveApi, command: Commands
) -> None:
    groups = {"groups": [{"name": "train"}], "jobs": [{}]}
    batch = (await http.post("/v1/batches", json=groups)).json()["id"]
    async with Client(url=api.url, token=TOKEN) as client:
        await client.set_limit({"amount_max": 9}, batch_id=batch)
        limited = await client.set_limit(
            {"measure": "gpu", "amount_max": 2}, batch_id=batch, group="train"
        )
        ids = [one["id"] async for one in client.list_limits(batch)]
    printed = [await command("limit", *words) for words in (
        ["set", "--user", "tester", "--measure", "cpu", "1000", "--soft", "800"],
        ["set", "--batch", f"b{batch}/train", "--measure", "gpu", "none", "--json"],
        ["ls"],
        ["ls", "--batch", f"b{batch}", "--json"],
        ["set", "--user", "tester", "--batch", f"b{batch}", "1"],
        ["set", "--user", "tester"],
        ["set", "--user", "tester", "much"],
        ["set", "--batch", f"b{batch}.j1", "1"],
    )]  # fmt: skip
    done, lifted, table, document, *wrong = printed

    assert (limited["kind"], limited["path"], limited["amount_max"]) == ("group", "train", 2)
    assert len(ids) == 2
    assert [one[0] for one in printed] == [0, 0, 0, 0, 2, 2, 2, 2], printed
    assert "user tester: at most 1,000 core hours, soft limit 800 core hours" in done[2]
    assert '"amount_max":null' in lifted[1]
    assert "b1" in table[1]
    assert "1,000 core hours" in table[1]
    assert [one["kind"] for one in json.loads(document[1])] == ["batch", "user"]
    assert "Exactly one of" in wrong[0][2]
    assert "no limit is given" in wrong[1][2]
