"""The metadata of RO-Crates; `tests/e2e/test_crate.py` asks the public validator."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from weft.core.files.crate import METADATA, WORKFLOW, Ran, crate_of

AT = "2027-04-13T10:00:00.123456+00:00"
NOW = datetime(2027, 4, 14, tzinfo=UTC)
BATCH = {
    "id": 3,
    "name": "snow",
    "user": "ada",
    "billing_project": "maps",
    "attributes": {},
    "created_at": AT,
}


def job(number: int, spec: dict[str, Any], **more: object) -> dict[str, Any]:
    return {
        "job_id": number,
        "name": f"job {number}",
        "state": "success",
        "attempt": 1,
        "user": "ada",
        "started_at": AT,
        "ended_at": AT,
        "exit_code": 0,
        "message": None,
        "reason": None,
        "attributes": {},
        "parents": [],
        "queue": "default",
        "priority": 0,
        "spec": {**spec, "trace_id": "00"},
        **more,
    }


def ran(*jobs: dict[str, Any], **more: Any) -> Ran:  # noqa: ANN401 (fields)
    given = {"files": {}, "products": [], "parameters": {}, "url": "http://weft", **more}
    return Ran(batch=BATCH, jobs=jobs, version="1", **given)


def read(of: Ran, **how: Any) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:  # noqa: ANN401 (options)
    texts = crate_of(of, made_at=NOW, **how)
    graph = json.loads(texts[METADATA])["@graph"]
    entities = {one["@id"]: one for one in graph}
    assert len(entities) == len(graph)
    digest = hashlib.sha256(texts[WORKFLOW].encode()).hexdigest()
    assert entities[WORKFLOW]["sha256"] == digest
    return json.loads(texts[WORKFLOW]), entities


def test_file_of_one_job_is_the_input_of_another() -> None:
    left = {"path": "a b.txt", "bytes": 3, "sha256": "0a", "address": None, "kept_at": AT}
    made = ran(
        job(1, {"script": "true", "outputs": [{"from": "*.txt"}]}),
        job(2, {"command": ["wc"], "inputs": [{"from": "weft://j1/a b.txt"}]}, parents=[1]),
        files={1: [left]},
    )
    plan, entities = read(made)
    address = "http://weft/v1/batches/3/jobs/1/file?path=a%20b.txt"
    assert entities["#b3.j1"]["result"] == entities["#b3.j2"]["object"] == {"@id": address}
    assert entities[address]["sha256"] == "0a"
    assert entities["#b3.j1"]["startTime"] == "2027-04-13T10:00:00.123+00:00"
    assert plan["jobs"][1]["parents"] == [1]
    assert "trace_id" not in plan["jobs"][0]
    assert "jobs/1/a%20b.txt" in read(made, holds_files=True)[1]


def test_versions_of_parameters_have_their_values() -> None:
    versions = [{"version": 1, "value": 90}, {"version": 2, "value": [1, 2]}]
    made = ran(
        job(1, {}, attributes={"param.clouds": "1"}),
        job(2, {}, attributes={"param.clouds": "2", "param.gone": "7"}),
        parameters={"clouds": versions},
    )
    _, entities = read(made)
    values = {key: one["value"] for key, one in entities.items() if "value" in one}
    assert values == {
        "#value-clouds-1": 90,
        "#value-clouds-2": "[1, 2]",
        "#value-gone-7": "version 7",
    }
    assert entities["#param-clouds"]["workExample"] == [
        {"@id": "#value-clouds-1"},
        {"@id": "#value-clouds-2"},
    ]
    assert entities[WORKFLOW]["input"] == [{"@id": "#param-clouds"}, {"@id": "#param-gone"}]


def test_what_failed_says_why_and_what_never_ran_is_no_action() -> None:
    made = ran(
        job(1, {}, state="failed", reason="exit", exit_code=3),
        job(2, {}, state="cancelled", attempt=0, started_at=None),
    )
    _, entities = read(made, licence="https://spdx.org/licenses/CC0-1.0")
    assert entities["#b3.j1"]["error"] == "exit"
    assert entities["#b3.j1"]["actionStatus"].endswith("/FailedActionStatus")
    assert entities["#run-b3"]["error"] == "2 of 2 jobs did not succeed"
    assert "#b3.j2" not in entities
    assert entities["./"]["license"] == {"@id": "https://spdx.org/licenses/CC0-1.0"}


def test_products_are_named_by_their_addresses() -> None:
    product = {"id": 5, "job_id": 1, "kept_at": AT}
    made = ran(
        job(1, {}),
        products=[
            {**product, "product": {"url": "s3://snow/1.tif", "type": "FSC", "sha256": "0b"}},
            {**product, "id": 6, "product": {"url": 7, "sha256": 8}},
        ],
        whole=False,
    )
    plan, entities = read(made)
    both = [{"@id": "s3://snow/1.tif"}, {"@id": "#product-6"}]
    assert entities["#b3.j1"]["result"] == entities["#run-b3.j1"]["result"] == both
    assert entities["s3://snow/1.tif"]["sha256"] == "0b"
    assert entities["./"]["hasPart"] == [{"@id": WORKFLOW}, {"@id": "s3://snow/1.tif"}]
    assert len(plan["jobs"]) == 1
