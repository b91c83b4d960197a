"""What the api answers is what its description says, field by field."""

import json
import re
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryDirectory
from typing import Any, get_args

import httpx
import msgspec
import pytest

from api.ask_lines import ask_imports, ask_lines, ask_sinks
from api.live import EventReader, LiveWorker, fold, leading
from api.test_messages_told import ask_dead_messages
from benches.route_bodies import CALLS, MAKING, document_of
from weft.core.ends.conditions import Ask
from weft.core.notes import Note
from weft.core.pictures import graph, timeline
from weft.core.states import AttemptKey, JobState, JobStateWord, Phase, Reason
from weft.ports.store import ProgressReport
from weft.wire import answers, documents, schedules
from weft.wire.answers.field_types import PhaseWord, ReasonWord
from weft.wire.app_folder import pack
from weft.wire.usage_format import UsageSample

JSON = "application/json"
PLACES = (
    *(
        import_module(one.name)
        for folder in (answers, documents)
        for one in iter_modules(folder.__path__, f"{folder.__name__}.")
    ),
    schedules,
    graph,
    timeline,
)
DOCUMENT: dict[str, Any] = {
    "name": "all kinds",
    "callback": "https://hook.example/",
    "attributes": {"a": "b"},
    "groups": [{"path": "/g", "callback": "https://hook.example/g"}],
    "jobs": [
        {"group": "/g", "name": "x", "command": ["true"]},
        {"parents": [1]},
        {"count": 3, "command": ["true"]},
        {
            "not_before": "2100-01-01T00:00:00Z",
            "deadline": "2100-01-01T01:00:00Z",
            "concurrency_key": {"key": "x", "n": 2},
            "timeout_s": 60,
        },
        {
            "retry": {"policy": "exponential"},
            "max_attempts": 2,
            "exit_codes": {"9": "success"},
            "external_errors": [66],
            "retry_with": [{"on": ["oom"], "memory": "x2", "up_to": "8Gi"}],
        },
    ],
}
POOL = {
    "name": "burst",
    "provider": "process",
    "max_workers": 4,
    "regions": ["local"],
    "flavours": [{"name": "small", "cpu": "500m", "memory": "1Gi", "labels": {"rack": "12"}}],
}


def test_words_are_those_of_the_states() -> None:
    assert set(get_args(JobStateWord)) == {state.word for state in JobState}
    assert set(get_args(ReasonWord)) == {reason.word for reason in Reason}
    assert set(get_args(PhaseWord)) == {phase.word for phase in Phase}


def shape(value: Any) -> Any:  # noqa: ANN401 (any document)
    """Return the names of all fields, without their values."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list | tuple) else None


def check(document: Any, schema: dict[str, Any]) -> None:  # noqa: ANN401
    """Compare a document with a schema of an answer."""
    if "oneOf" in schema:
        schema = schema["oneOf"]["plan" in document]
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        kind = next(kind for one in PLACES if isinstance(kind := getattr(one, name, None), type))
        assert shape(msgspec.to_builtins(msgspec.convert(document, kind))) == shape(document)
        return
    assert document.keys() == set(schema["required"])
    for item in document["items"]:
        check(item, schema["properties"]["items"]["items"])


class Described:
    """A client that compares each answer with the description."""

    def __init__(self, http: httpx.AsyncClient, paths: dict[str, Any]) -> None:
        self.http = http
        self.paths = paths
        self.seen: set[tuple[str, str, str]] = set()

    async def __call__(
        self,
        method: str,
        route: str,
        *,
        query: str = "",
        body: Any = None,  # noqa: ANN401
        **ids: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        path = route.format(**ids) + query
        kind = "application/toml" if isinstance(body, str) else None
        kind = "application/octet-stream" if isinstance(body, bytes) else kind
        sent = {"content": body} if kind else {"json": body}
        headers = {"content-type": kind} if kind else None
        answer = await self.http.request(method, path, headers=headers, **sent)
        status = str(answer.status_code)
        document = answer.json()
        described = self.paths[route][method.lower()]["responses"]
        content = described[status]["content"]
        check(document, content[answer.headers["content-type"]]["schema"])
        self.seen.add((method, route, status))
        return document


@pytest.fixture
async def ask(http: httpx.AsyncClient) -> Described:
    return Described(http, (await http.get("/openapi.json")).json()["paths"])


async def ask_apps(ask: Described) -> None:
    described: dict[str, Any] = {"name": "sayer", "version": "1.0", "templatePath": "app.json"}
    described["parameters"] = [{"id": "say"}]
    with TemporaryDirectory() as folder:
        (Path(folder) / "app.json").write_text(json.dumps(described))
        packed = pack(Path(folder))
    digest, part = sha256(packed).hexdigest(), "/v1/app-parts/{s}/{n}"
    await ask("PUT", part, s=digest, n=1, query=f"?bytes={len(packed)}", body=packed)
    document = {"digest": digest, "n_bytes": len(packed)}
    await ask("PUT", "/v1/apps/{app}", app="sayer-1.0", body=document)
    await ask("GET", "/v1/apps")
    await ask("GET", "/v1/apps/{app}", app="sayer-1.0")
    job = {"app": "sayer-1.0", "parameters": {"say": "x"}}
    b = (await ask("POST", "/v1/batches", body={"jobs": [job]}))["id"]
    await ask("GET", "/v1/batches/{b}/jobs/{j}", b=b, j=1)
    await ask("DELETE", "/v1/apps/{app}", app="sayer-1.0", body={})


async def ask_conditions(ask: Described, worker: LiveWorker) -> None:
    await ask_sinks(ask, worker)
    await ask_imports(ask)
    await ask("POST", "/v1/batches", body={"jobs": [{"command": ["false"]}]})
    (one,) = await worker.claim_and_start(1)
    await worker.block([one], Ask("quota", "tcp", {"host": "db", "port": "1"}))
    (found,) = (await ask("GET", "/v1/conditions"))["items"]
    c = found["condition_id"]
    await ask("GET", "/v1/conditions/{c}", c=c)
    await ask("POST", "/v1/conditions/{c}/test", c=c, body={})
    await ask("POST", "/v1/conditions/{c}/release", c=c, body={"n": 1})
    await ask("POST", "/v1/conditions/{c}/fail", c=c, body={})


@pytest.mark.heavy
async def test_every_answer_is_the_one_described(
    database: dict[str, str], ask: Described, worker: LiveWorker
) -> None:
    b = (await ask("POST", "/v1/batches", body=DOCUMENT))["id"]
    await ask("POST", "/v1/batches", body={})
    await submit_more(ask, b)
    claimed = await worker.claim_and_start(2)
    await ask_attempts(ask, worker, AttemptKey(b, claimed[0].job_id, 1))
    j = claimed[0].job_id
    told = {"signal": (j, "signal", "USR1"), "message": (j, "text", "x")}
    later = {"extend": (6, "by_s", 60), "answer": (9, "note", "x")}
    for word, (to, key, value) in {"answer-links": (9, "valid_s", 60), **told, **later}.items():
        await ask("POST", "/v1/batches/{b}/jobs/{j}/" + word, b=b, j=to, body={key: value})
    await worker.end(claimed[:1])
    await worker.end(claimed[1:], exit_code=1)
    await fold(database["weft_driver"])
    await read_jobs(ask, b)
    await change(ask, b)
    for word in ("why", "forecast"):
        await ask("GET", "/v1/batches/{b}/jobs/{j}/" + word, b=b, j=claimed[1].job_id)
        await ask("GET", "/v1/batches/{b}/" + word, b=b)
    await ask("GET", "/v1/batches/{b}/groups/{g}/why", b=b, g=1)
    await ask_failures(ask, b, claimed[1].job_id)
    queues = {"queues": [{"name": "q", "priority": 1, "guard": "job.priority > 5"}]}
    await ask("PUT", "/v1/queues", body=queues)
    await ask("POST", "/v1/queue-test", body={"jobs": [{}]})
    await ask("POST", "/v1/batches", body={"jobs": [{}]})
    await ask("POST", "/v1/queue-reroute", body={"to": "q", "dry_run": True})
    await ask("POST", "/v1/queues/{q}/drain", q="q", body={})
    await ask("GET", "/v1/queues")
    await ask("GET", "/v1/queues/{q}", q="q")
    await ask("PUT", "/v1/pools", body={"pools": [POOL]})
    await ask("GET", "/v1/pools")
    for part in ("", "/log", "/cost", "/shares"):
        await ask("GET", "/v1/pools/{p}" + part, p=POOL["name"])
    await ask("PUT", "/v1/pools", body={"pools": []})
    await ask_licences(ask, database)
    await ask_tokens(ask)
    await ask_users(ask)
    await ask_conditions(ask, worker)
    await ask_schedules(ask)
    for path in ("rates", "overview", "overview/minutes"):
        await ask("GET", f"/v1/{path}")
    await ask("GET", "/v1/workers")
    await ask("GET", "/v1/workers/{w}", w="w1")
    for verb in ("cordon", "drain", "uncordon", "lose"):
        await ask("POST", f"/v1/workers/{{w}}/{verb}", w="w1", body={})
    await ask("GET", "/v1/batches/{b}", b=10**6)
    await ask("DELETE", "/v1/batches/{b}", b=b)
    await ask_trail(ask, database)
    described = {
        (method.upper(), route, status)
        for route, operations in ask.paths.items()
        for method, operation in operations.items()
        for status, answer in operation["responses"].items()
        if JSON in answer["content"] and not route.endswith(".json") and "z" not in route
    } - UNASKED

    assert described <= ask.seen
    assert ("GET", "/v1/batches/{b}", "404") in ask.seen


async def test_every_answer_has_its_content_described(ask: Described) -> None:
    """Also output, which is bytes or lines, and what is for machines."""
    for operations in ask.paths.values():
        for operation in operations.values():
            answers_ = operation["responses"]

            assert all(answer["content"] for answer in answers_.values())
            assert {"200", "201", "202", "303"} & answers_.keys()
            assert {"400", "500"} <= answers_.keys()
            assert "default" not in answers_


async def test_every_parameter_has_a_form_and_a_description(ask: Described) -> None:
    for operations in ask.paths.values():
        for operation in operations.values():
            for one in operation["parameters"]:
                assert one["description"].endswith((".", "others are ignored.")), one
                assert one["schema"] != {"type": "string"}, one


async def test_every_field_of_a_document_is_described(ask: Described) -> None:
    schemas = (await ask.http.get("/openapi.json")).json()["components"]["schemas"]
    for operations in ask.paths.values():
        for operation in operations.values():
            content = operation.get("requestBody", {"content": {}})["content"]
            for one in filter(None, content.values()):  # bytes have no schema
                name = one["schema"]["$ref"].rpartition("/")[2]
                for field, schema in schemas[name]["properties"].items():
                    assert schema["description"].endswith("."), (name, field)
    assert "fields" in schemas["QueueDifference"]["required"]  # though it has a default
    resources = schemas["JobDocument"]["properties"]["resources"]["properties"]
    assert resources.keys() == {"cpu", "memory", "storage", "gpu"}


async def ask_attempts(ask: Described, worker: LiveWorker, key: AttemptKey) -> None:
    job = "/v1/batches/{b}/jobs/{j}"
    said = ProgressReport(key.batch_id, key.job_id, key.attempt, 40.5, "epoch 4")
    await worker.store.record_progress(worker.incarnation_id, [said])
    await worker.store.record_note(worker.incarnation_id, key, Note("n", "text", b"x"))
    for part in ("/attempts", "/children", "/parents", "/notes"):
        await ask("GET", job + part, b=key.batch_id, j=key.job_id)
    await worker.keep_samples(key, [UsageSample(5000, 1, 2)])
    await ask("GET", job + "/attempts/{a}/usage", b=key.batch_id, j=key.job_id, a=key.attempt)


async def ask_failures(ask: Described, b: int, failed: int) -> None:
    asked = {"failures": "", "graph": "?level=jobs", "timeline": "", "logs": "?find=x"}
    for path, query in asked.items():
        await ask("GET", f"/v1/batches/{{b}}/{path}", b=b, query=query)
    await ask("GET", "/v1/batches/{b}/graph", b=b)
    await ask("GET", "/v1/dead-letters")
    seen = {"note": "known", "jobs": [failed]}
    await ask("POST", "/v1/batches/{b}/failures/acknowledge", b=b, body=seen)
    await ask("GET", "/v1/dead-letters", query="?acknowledged=true")


async def ask_licences(ask: Described, database: dict[str, str]) -> None:
    await ask("GET", "/v1/system")
    await ask_dead_messages(ask, database)
    await ask_named(ask)
    b = (await ask("POST", "/v1/batches", body={"jobs": [{}]}))["id"]
    await ask("GET", "/v1/batches/{b}/jobs/{j}/files", b=b, j=1)
    await ask_lines(ask)
    await ask_apps(ask)


async def ask_named(ask: Described) -> None:
    """Ask all about what is made under a name, by its document."""
    for call in [one for one in CALLS.values() if one.name in MAKING]:
        (name,) = re.findall(r"{(\w+)}", call.path)
        one, many = call.path, call.path.removesuffix(f"/{{{name}}}")
        for asked in (
            call.name,
            f"GET {many}",
            f"GET {one}",
            f"GET {one}/history",
            f"POST {one}/trial",
            f"DELETE {one}",
        ):
            method, _, path = asked.partition(" ")
            if method.lower() in ask.paths.get(path, {}):
                body = None if method == "GET" else document_of(asked)
                await ask(method, path, body=body, **{name: "a"})
    await ask("POST", "/v1/secret-rotation", body={})


async def ask_tokens(ask: Described) -> None:
    token = await ask("POST", "/v1/tokens", body={"name": "ci", "scopes": ["read"]})
    await ask("GET", "/v1/tokens")
    await ask("DELETE", "/v1/tokens/{t}", t=token["token_id"], body={})
    await ask("GET", "/v1/whoami")
    link = await ask("POST", "/v1/login-links", body={})
    form = {"code": link["url"].partition("=")[2]}
    origin = {"origin": str(ask.http.base_url).rstrip("/")}
    assert (await ask.http.post("/login", data=form, headers=origin)).status_code == 303
    (session,) = (await ask("GET", "/v1/sessions"))["items"]
    await ask("DELETE", "/v1/sessions/{session}", session=session["session_id"], body={})
    await ask("DELETE", "/v1/sessions", body={})


async def ask_users(ask: Described) -> None:
    for part in ("", "/{p}", "/{p}/days"):
        await ask("GET", "/v1/billing-projects" + part, p="default")
    for division in ("user", "attribute=cohort"):
        await ask("GET", "/v1/billing/report", query=f"?by={division}")
    await ask("POST", "/v1/users", body={"name": "bob"})
    await ask("PATCH", "/v1/users/{user}", user="bob", body={"role": "viewer"})
    await ask("PUT", "/v1/users/{user}/weight", user="bob", body={"weight": 3})
    await ask("GET", "/v1/users")
    await ask("POST", "/v1/billing-projects", body={"name": "p", "cost_max": 5})
    member = "/v1/billing-projects/{p}/members/{user}"
    await ask("PUT", member, p="p", user="bob", body={})
    await ask("DELETE", member, p="p", user="bob", body={})
    await ask("PATCH", "/v1/billing-projects/{p}", p="p", body={"closed": True})
    await ask("DELETE", "/v1/billing-projects/{p}", p="p", body={})
    await ask("POST", "/v1/tenants", body={"name": "acme", "admin": "ann"})
    await ask("GET", "/v1/tenants")
    await ask("GET", "/v1/tenants/{tenant}", tenant="acme")
    await ask("PATCH", "/v1/tenants/{tenant}", tenant="acme", body={"on_user_removal": "cancel"})
    await ask("PATCH", "/v1/tenants/{tenant}/quota", tenant="acme", body={"jobs": 5})
    await ask("PATCH", "/v1/users/{user}/quota", user="bob", body={"jobs": 5})
    await ask("PATCH", "/v1/user-quota", body={"batches": None})
    await ask("GET", "/v1/quotas")
    b = (await ask("POST", "/v1/batches", body={"jobs": [{"command": ["true"]}]}))["id"]
    for of in ("users/{user}", "billing-projects/{p}", "batches/{b}", "batches/{b}/groups/{g}"):
        path = f"/v1/{of}/limit"
        await ask("PATCH", path, user="bob", p="default", b=b, g=0, body={"amount_max": 5})
    await ask("GET", "/v1/limits")
    for of in ("", "/jobs/{j}"):
        shared = f"/v1/batches/{{b}}{of}/permissions"
        await ask("PUT", shared + "/{user}", b=b, j=1, user="bob", body={"permission": "read"})
        await ask("GET", shared, b=b, j=1)
        await ask("DELETE", shared + "/{user}", b=b, j=1, user="bob", body={})
    await ask("GET", "/v1/shared-jobs")
    await ask("DELETE", "/v1/users/{user}", user="bob", query="?cancel_batches=true", body={})


UNASKED = {
    ("GET", "/v1/callbacks/secret", "200"),
    ("POST", "/v1/workers/{w}/lose", "200"),
    ("POST", "/v1/logins", "200"),
    ("POST", "/v1/logins/finish", "200"),
    ("POST", "/v1/device-logins", "200"),
    ("POST", "/v1/device-logins/poll", "200"),
    ("POST", "/v1/sinks/{sink}/deliveries/{message}/decide", "200"),
}
"""They need a key, an issuer (`test_logins`), a silent worker, or a check (`test_commands`)."""
UNCHANGED = {
    "POST /v1/sinks/{sink}/given-up",  # none was given up
    "PUT /v1/batches/{b}/payloads/{s}/{n}",  # its commit is there, as of those that follow
    *(f"POST /v1/batches/{{b}}/updates/{{u}}/{part}" for part in ("groups", "jobs")),
    *(f"POST /v1/{one}/trial" for one in ("stores/{store}", "sources/{source}", "setups/{setup}")),
    "POST /v1/files/trial",
    "POST /v1/queue-test",
    "POST /v1/queue-reroute",  # here a dry run; those above leave nothing
    "POST /v1/secret-rotation",  # here to the same key
}
"""Requests that are not in the trail, though their methods may change something."""


async def ask_trail(ask: Described, database: dict[str, str]) -> None:
    """What was asked for with success, and changes something, is in the trail: on all routes."""
    async with leading(database["weft_driver"]) as (store, epoch):
        await store.sweep("seal_trail", epoch, limit_jobs=1000)
    found = (await ask("GET", "/v1/trail", query="?limit=1000"))["items"]
    asked = {
        ask.paths[route][method.lower()]["operationId"]
        for method, route, status in ask.seen
        if method != "GET" and status < "300" and f"{method} {route}" not in UNCHANGED
    }

    assert {one["action"] for one in found} == asked | {"log_in"}  # a page of it was used


async def ask_schedules(ask: Described) -> None:
    schedule = {"cron": "0 2 * * *", "document": {"jobs": [{}]}}
    await ask("POST", "/v1/schedules", body=schedule)
    await ask("POST", "/v1/schedules/{s}/run-now", s=1, body={})
    await ask("GET", "/v1/schedules")
    await ask("GET", "/v1/schedules/{s}", s=1)
    await ask("PATCH", "/v1/schedules/{s}", s=1, body={"paused": True})
    await ask("DELETE", "/v1/schedules/{s}", s=1)


async def submit_more(ask: Described, b: int) -> None:
    updates = "/v1/batches/{b}/updates"
    u = (await ask("POST", updates, b=b, body={"n_jobs": 1, "n_groups": 1}))["update_id"]
    await ask("POST", updates, b=b, body={"jobs": [{"name": "z", "wait": {"for": "event"}}]})
    await ask("GET", updates + "/{u}", b=b, u=u)
    part = "/v1/batches/{b}/payloads/{s}/{n}"
    await ask("PUT", part, b=b, s="0" * 64, n=1, query="?bytes=1", body=7)
    for name, one in (("groups", {"name": "h"}), ("jobs", {"command": ["true"]})):
        await ask("POST", f"{updates}/{{u}}/{name}", b=b, u=u, body={"first": 1, name: [one]})
    await ask("POST", updates + "/{u}/commit", b=b, u=u, body={})


async def read_jobs(ask: Described, b: int) -> None:
    for query in ("", "?explain=true&q=state%20%3D%20success", "?q=state%20%3D%20success"):
        await ask("GET", "/v1/batches/{b}/jobs", b=b, query=query)
        await ask("GET", "/v1/batches", query=query)
    await ask("GET", "/v1/batches/{b}/jobs", b=b, query="?why=true")
    for part in ("", "/reasons", "/groups"):
        await ask("GET", "/v1/batches/{b}" + part, b=b)
    for j in (1, 2, 3, 4):
        for part in ("", "/attempts", "/history"):
            await ask("GET", "/v1/batches/{b}/jobs/{j}" + part, b=b, j=j)
    await ask("GET", "/v1/batches/{b}/groups/{g}", b=b, g=1)


async def change(ask: Described, b: int) -> None:
    groups = "/v1/batches/{b}/groups"
    await ask("POST", groups, b=b, body={"name": "s"})
    await ask("POST", groups + "/{g}/members", b=b, g="s", body={"jobs": [1]})
    o = (await ask("POST", groups, b=b, query="?q=pca", body={"name": "q"}))["id"]
    await ask("GET", "/v1/operations")
    await ask("GET", "/v1/operations/{o}", o=o)
    await ask("GET", "/v1/batch-actions", query="?action=hold&q=pca")
    action = {"action": "hold", "query": "name = none"}
    o = (await ask("POST", "/v1/batch-actions", body=action))["id"]
    await ask("POST", "/v1/operations/{o}/cancel", o=o, body={})
    for route in ("", "/groups/{g}", "/jobs/{j}"):
        await ask("PATCH", "/v1/batches/{b}" + route, b=b, g=1, j=1, body={"name": "other"})
        await ask("PATCH", "/v1/batches/{b}" + route, b=b, g=1, j=4, body={"priority": 5})
        for word in ("/hold", "/release"):
            await ask("POST", "/v1/batches/{b}" + route + word, b=b, g=1, j=1, body={})
    await ask("GET", "/v1/batches/{b}/history", b=b)
    await ask("GET", "/v1/batches/{b}/groups/{g}/history", b=b, g=1)
    callbacks = "/v1/batches/{b}/callbacks"
    for one in (await ask("GET", callbacks, b=b))["items"]:
        await ask("POST", callbacks + "/{d}/redeliver", b=b, d=one["delivery_id"], body={})
    await ask("POST", "/v1/batches/{b}/resubmit", b=b, body={})
    await ask("POST", "/v1/batches/{b}/retry", b=b, body={})
    for word in ("/hide", "/unhide"):
        await ask("POST", "/v1/batches/{b}" + word, b=b, body={})
    await ask("POST", "/v1/batches/{b}/jobs/{j}/cancel", b=b, j=4, body={})
    await ask("POST", groups + "/{g}/cancel", b=b, g=1, body={})
    await ask("POST", "/v1/batches/{b}/cancel", b=b, body={})


async def test_events_are_the_ones_described(http: httpx.AsyncClient) -> None:
    start = (await http.get("/openapi.json")).json()["paths"]["/v1/events"]["get"]
    (content,) = start["responses"]["200"]["content"].values()
    async with http.stream("GET", "/v1/events") as stream:
        reader = EventReader(stream)
        await http.post("/v1/batches", json=DOCUMENT)
        event = await reader.event()

    check(event, content["schema"]["properties"]["data"]["contentSchema"])


async def test_path_that_does_not_take_a_method_says_which_it_takes(ask: Described) -> None:
    for route in ("/v1/batches", "/v1/batches/{b}", "/v1/batches/{b}/groups/{g}/cancel", "/docs"):
        refused = await ask.http.put(route.format(b=1, g="%2Fa"))
        allowed = set(refused.headers["allow"].lower().split(", "))

        assert (refused.status_code, refused.json()["code"]) == (405, "API.METHOD_NOT_ALLOWED")
        assert allowed - {"head", "options"} == ask.paths[route].keys()
        asked = await ask.http.options(route.format(b=1, g="%2Fa"))
        assert (asked.status_code, asked.headers["allow"]) == (204, refused.headers["allow"])
    assert "allow" not in (await ask.http.put("/nothing")).headers


async def test_key_of_a_bunch_of_groups_stands_for_its_body(http: httpx.AsyncClient) -> None:
    b = (await http.post("/v1/batches", json={})).json()["id"]
    await http.post(f"/v1/batches/{b}/updates", json={"n_groups": 3})
    path = f"/v1/batches/{b}/updates/1/groups"
    one = {"first": 1, "groups": [{"name": "a", "attributes": {"k": "v"}}]}
    keyed = {"idempotency-key": "k"}
    first = await http.post(path, json=one, headers=keyed)
    again = await http.post(path, json=one, headers=keyed)
    other = await http.post(path, json={"first": 2, "groups": [{"name": "b"}]}, headers=keyed)
    unkeyed = await http.post(path, json=one)
    differs = await http.post(path, json={"first": 1, "groups": [{"name": "a"}]})
    renamed = await http.post(path, json={"first": 1, "groups": [{"name": "c"}]})
    listed = (await http.post(path, json={"first": 2, "groups": [{"name": "b"}]})).status_code

    assert (first.status_code, first.headers.get("idempotent-replay")) == (201, None)
    assert (again.status_code, again.headers["idempotent-replay"]) == (201, "true")
    assert again.json() == first.json() == unkeyed.json()
    assert (other.status_code, other.json()["code"]) == (409, "API.IDEMPOTENCY_CONFLICT")
    for refused in (differs, renamed):
        assert (refused.status_code, refused.json()["code"]) == (409, "API.BUNCH_DIFFERS")
    assert '"a" was added before, and "c" was sent' in renamed.json()["detail"]
    assert listed == 201
