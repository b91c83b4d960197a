"""Reports, costs, prices and limits of spending over HTTP, by the clients and by the command."""

import csv
import io
import json
from datetime import date

import httpx

from api.live import TOKEN, Commands, LiveApi, LiveWorker
from cases import cases
from weft.aio import Client

FORMULA = '=HYPERLINK("http://x","y")'


async def test_report_is_json_or_csv(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    batch = {"jobs": [{}], "attributes": {"-cohort": FORMULA}}
    await http.post("/v1/batches", json=batch)
    await worker.work()
    ask = {"by": "attribute=-cohort", "first_day": "2020-01-01", "last_day": "9999-12-31"}
    document = (await http.get("/v1/billing/report", params=ask)).json()
    by_header = await http.get("/v1/billing/report", params=ask, headers={"accept": "text/csv"})
    by_name = await http.get("/v1/billing/report", params={**ask, "format": "csv"})
    as_json = await http.get(
        "/v1/billing/report", params={"format": "json"}, headers={"accept": "text/csv"}
    )
    empty = await http.get("/v1/billing/report", params={"last_day": "2020-01-01"})
    header, cells = csv.reader(io.StringIO(by_header.text, newline=""))

    (row,) = document["items"]
    assert (row["name"], row["kind"]) == (FORMULA, "value")
    assert document["cost"] == row["cost"]
    assert float(document["cost"]) > 0
    assert (header[0], cells[0], cells[2]) == ("'-cohort", f"'{FORMULA}", row["cost"])
    assert by_header.headers["content-type"] == "text/csv; header=present; charset=utf-8"
    assert by_name.text == by_header.text
    assert by_header.text.endswith("\r\n")
    assert as_json.json()["cost"] == document["cost"]
    assert (empty.json()["items"], empty.json()["cost"]) == ([], "0")


async def test_wrong_parameter_of_a_report_is_named(http: httpx.AsyncClient) -> None:
    for name, value in [
        ("by", ""),
        ("by", "x"),
        ("by", "attribute="),
        ("first_day", "soon"),
        ("format", "xml"),
        ("to", "1"),
    ]:
        answer = await http.get("/v1/billing/report", params={name: value})

        assert answer.status_code == 400
        assert answer.json()["errors"][0]["pointer"] == f"?{name}"


async def test_clients_and_the_command_line_report(
    http: httpx.AsyncClient, api: LiveApi, worker: LiveWorker, command: Commands
) -> None:
    await http.post("/v1/batches", json={"jobs": [{}]})
    await worker.work()
    async with Client(url=api.url, token=TOKEN) as client:
        found = await client.billing_report("user", project="default", since=date(2020, 1, 1))
    words = ["billing", "report", "--by", "user", "--project", "default", "--since", "2020-01-01"]
    options = ("", "--json", "--csv", "--until 2020-01-01", "--csv --json")
    printed = [await command(*words, *more.split()) for more in options]
    table, document, sheet, empty, both = printed

    assert [row["name"] for row in found["items"]] == ["tester"]
    assert [one[0] for one in printed] == [0, 0, 0, 0, 2]
    assert "tester" in table[1]
    assert "cost of all" in table[2]
    assert json.loads(document[1]) == found
    assert sheet[1].splitlines()[1].startswith(f"tester,value,{found['cost']},")
    assert "nothing was used" in empty[2]
    assert "both say" in both[2]


async def test_project_has_costs_by_date(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    await http.post("/v1/batches", json={"jobs": [{}] * 3})
    await worker.work()
    project = (await http.get("/v1/billing-projects/default")).json()
    listed = (await http.get("/v1/billing-projects")).json()["items"]
    days = (await http.get("/v1/billing-projects/default/days")).json()["items"]
    earlier = await http.get(
        "/v1/billing-projects/default/days", params={"before": days[0]["date"]}
    )

    assert listed == [project]
    assert [day["cost"] for day in days] == [project["cost"]]
    assert project["cost"] > 0
    assert earlier.json()["items"] == []
    assert (await http.get("/v1/rates")).json()["items"][0]["rates"][0]["resource"] == "cpu"


async def test_wrong_project_and_date_are_named(http: httpx.AsyncClient) -> None:
    unknown = await http.get("/v1/billing-projects/x%27%3B--")
    wrong = await http.get("/v1/billing-projects/default/days", params={"before": "tomorrow"})

    assert (unknown.status_code, unknown.json()["code"]) == (404, "API.PROJECT_NOT_FOUND")
    assert wrong.status_code == 400
    assert wrong.json()["errors"] == [
        {"pointer": "?before", "message": "it is not a date such as 2026-01-31"}
    ]


async def test_days_come_in_pages(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    await http.post("/v1/batches", json={"jobs": [{}]})
    await worker.work()
    days = "/v1/billing-projects/default/days"
    page = (await http.get(days, params={"limit": 1})).json()
    after = await http.get(days, params={"limit": 1, "cursor": page["cursor"]})
    wrong = [await http.get(days, params={"cursor": one}) for one in ("ZDp4", "ZDo=", "ajoy")]

    assert len(page["items"]) == 1
    assert after.json() == {"items": [], "cursor": None}
    assert [one.json()["errors"][0]["pointer"] for one in wrong] == ["?cursor"] * 3


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
        (
            {most: 5, soft: None},
            {soft: 8},
            ["--soft", "8"],
            soft,
            "--soft",
            "it is above the limit that was set before",
        ),
        (
            {most: 9, soft: 8},
            {most: 5},
            ["5"],
            most,
            "the amount",
            "it is below the soft limit that was set before",
        ),
    ):
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
    printed = [
        await command("limit", *words)
        for words in (
            ["set", "--user", "tester", "--measure", "cpu", "1000", "--soft", "800"],
            ["set", "--batch", f"b{batch}/train", "--measure", "gpu", "none", "--json"],
            ["ls"],
            ["ls", "--batch", f"b{batch}", "--json"],
            ["set", "--user", "tester", "--batch", f"b{batch}", "1"],
            ["set", "--user", "tester"],
            ["set", "--user", "tester", "much"],
            ["set", "--batch", f"b{batch}.j1", "1"],
        )
    ]
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
