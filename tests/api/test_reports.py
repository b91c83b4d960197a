"""Reports over HTTP, by the clients and by the command."""

import csv
import io
import json
from datetime import date

import httpx

from api.live import TOKEN, Commands, LiveApi, LiveWorker
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
