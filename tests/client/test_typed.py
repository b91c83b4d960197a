"""Both clients have the same names and each declared call; type checkers see what they return."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import assert_type

import msgspec

import weft
from cases import cases
from client.http_server import Request, answer, serving
from weft import Client, aio
from weft.api.calls.call import Call
from weft.api.routes.declared import all_calls
from weft.client.aio import Listing, LogEvent
from weft.client.answer import MONEY, Answer, is_date
from weft.client.api import Api
from weft.client.generated import answers
from weft.client.loop_thread import WaitingListing
from weft.client.objects.job_keywords import JobKeywords
from weft.wire import answers as wire_answers
from weft.wire.documents.jobs import JobDocument

CLASSES = (
    "Batch",
    "BatchBuilder",
    "Client",
    "GroupBuilder",
    "Job",
    "JobGroup",
    "JobTree",
    "JobTreeBuilder",
)


WAITS_ONLY = {"map"}
"""What yields as an executor does, which no event loop may wait for."""


def public_names(cls: type) -> set[str]:
    declared = {name for one in cls.__mro__ for name in inspect.get_annotations(one)}
    return {name for name in {*dir(cls), *declared} if not name.startswith("_")}


@cases("name", CLASSES)
def test_both_clients_have_the_same_names_with_documentation(name: str) -> None:
    ours, theirs = getattr(weft, name), getattr(aio, name)
    beyond = {"make_job"}  # what the twin needs

    assert public_names(ours) - WAITS_ONLY == public_names(theirs) - beyond
    for one in public_names(ours):
        method = getattr(ours, one)
        assert inspect.getdoc(method), one
        if inspect.isfunction(method) and one not in WAITS_ONLY:
            found, expected = (inspect.signature(getattr(c, one)) for c in (ours, theirs))
            assert list(found.parameters.values()) == list(expected.parameters.values()), one


def test_each_field_that_is_money_or_a_date_is_known_to_the_client() -> None:
    found: dict[str, str] = {}
    for one in pkgutil.iter_modules(wire_answers.__path__, "weft.wire.answers."):
        for kind in vars(importlib.import_module(one.name)).values():
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                for field in msgspec.structs.fields(kind):
                    said = str(msgspec.inspect.type_info(field.type))
                    found[field.encode_name] = found.get(field.encode_name, "") + said
    leaves = {name for name, said in found.items() if "StructType" not in said}
    dates = {name for name in leaves if "DateTimeType" in found[name]}

    assert {name for name in leaves if is_date(name)} == dates | {"series_at"}  # or a number
    assert {name for name in leaves if "cost" in name or "price" in name} == MONEY
    assert {name for name in leaves if "deployment's currency" in found[name]} <= MONEY
    own = Answer(attributes={"deadline": "soon", "cost": "much"}, costs=[0.1, "2", None])
    assert (own.attributes.deadline, own.attributes.cost) == ("soon", "much")
    assert (own.costs, own["costs"][0]) == ([Decimal("0.1"), Decimal(2), None], 0.1)


def test_each_field_of_a_job_is_a_keyword_of_create_job() -> None:
    parameters = inspect.signature(weft.GroupBuilder.create_job).parameters.keys()
    keywords = set(JobKeywords.__annotations__)

    assert parameters.isdisjoint(keywords)
    assert (parameters - {"self", "keywords"}) | keywords == (
        set(JobDocument.__struct_fields__) - {"function", "group"}
    )


def what_a_type_checker_sees(client: Client) -> None:
    """Is checked by `make types` and never called."""
    bb = client.create_batch(name="x", attributes={"a": "b"})
    assert_type(bb, weft.BatchBuilder)
    group = bb.create_job_group("driver", cancel_after_n_failures=1)
    job = group.create_job(["true"], resources={"cpu": 0.5, "memory": "1Gi"})
    assert_type(job, weft.Job)
    assert_type(bb.job_tree().create_path("/a").create_job(parents=[job, 7]), weft.Job)
    b = bb.submit(progress=False)
    assert_type(b, weft.Batch)
    assert_type(b.wait(progress=True).cost, Decimal)
    assert_type(b.cancel(force=True), answers.Cancelled)
    assert_type(b.create_job_group('"pca"', name="pca"), weft.JobGroup)
    assert_type(b.job_tree().get_path("/a").list_jobs("cost > 5"), WaitingListing[answers.Job])
    assert_type(b.find_lines("oops", q="state = failed"), WaitingListing[Answer])
    assert_type(b.watch(only_end=True), Iterator[answers.CountedJobs])
    assert_type(job.log(stream="stdout"), str)
    assert_type(job.follow_log(attempt=1), Iterator[LogEvent])
    assert_type([one.ended_at for one in job.attempts()], list[datetime | None])
    assert_type(client.create_job_group(b.id, "random").update(), Answer)

    assert_type(weft.Executor(max_attempts=2, retry_on=["exit"]).batch_id, int | None)

    weft.Executor(max_attempts="2")  # type: ignore[arg-type]
    weft.Executor(retires=2)  # type: ignore[call-arg]
    bb.create_job(command=7)  # type: ignore[arg-type]
    bb.create_job(commnad=["true"])  # type: ignore[call-arg]
    bb.create_job(umask=0o77)  # type: ignore[arg-type]
    job.log(stream="stdin")  # type: ignore[arg-type]
    b.wait(progress="bar")  # type: ignore[arg-type]
    b.no_such_method()  # type: ignore[attr-defined]


async def what_it_sees_of_the_other(client: aio.Client) -> None:
    """Is checked by `make types` and never called."""
    bb = client.update_batch(7)
    job = bb.create_job()
    assert_type(job, aio.Job)
    b = await bb.submit()
    assert_type(b, aio.Batch)
    assert_type((await b.status()).messages[0].n_open, int)
    assert_type(b.list_jobs(), Listing[answers.Job])
    assert_type(b.find_lines("oops"), Listing[Answer])
    assert_type(job.follow_log(), AsyncGenerator[LogEvent, None])
    assert_type(await client.create_job_group(b.id, "random"), aio.JobGroup)
    bb.create_job(parents=["j7"])  # type: ignore[list-item]


VALUES: Mapping[object, object] = {int: 7, float: 7.5, bool: True}


def arguments_of(method: Callable[..., object]) -> dict[str, object]:
    """A value for each parameter, and a name that needs quoting."""
    parameters = [*inspect.signature(method).parameters.values()][1:]
    values = {one.name: VALUES.get(one.annotation, "write") for one in parameters}
    return {**values, "name": "a/b %"} if "name" in values else values


def fields_of(request: Request) -> set[str]:
    is_packed = request.headers.get("content-type") == "application/msgpack"
    return {*(msgspec.msgpack if is_packed else msgspec.json).decode(request.body)}


@cases("call", [one for one in all_calls() if one.client_name])
async def test_clients_ask_what_the_route_reads(call: Call) -> None:
    source = f"Use case: `{call.use_case.__module__}.{call.operation}`."
    for cls in (Api, aio.Client, Client) if call.is_public else (Api,):
        assert source in (inspect.getdoc(getattr(cls, call.client_name)) or ""), cls

    method = getattr(Api, call.client_name)
    page = answer(200, b'{"items": [], "cursor": null}')
    async with serving(page) as server, Api(server.url, "t") as api:
        asked = method(api, **arguments_of(method))
        _ = [one async for one in asked] if call.cursor else await asked
    (request,) = server.requests
    path, _, query = request.target.partition("?")

    assert request.method == call.method
    assert re.fullmatch(re.sub(r"{\w+}", "[^/]+", call.path), path)
    words = {one.word for one in call.query.values()} | ({"limit"} if call.cursor else set())
    assert set(re.findall(r"(\w+)=", query)) == words
    assert call.is_keyed == ("idempotency-key" in request.headers)
    if call.document and call.body is not None and call.is_spread:
        assert fields_of(request) == {*call.body.__struct_encode_fields__}


def test_clients_repeat_no_method_but_where_they_answer_with_objects() -> None:
    both = {*dir(aio.Client)} & {one for one in dir(Api) if one[0] != "_"}
    own = {one for one in both if getattr(aio.Client, one) is not getattr(Api, one)}
    objects = {"create_batch", "get_batch", "get_job", "run_schedule", "submit"}
    assert own - objects == {"close", "set_tenant"}
