"""Each declared call has methods in all clients, which ask what its route reads."""

import inspect
import re
from collections.abc import Callable, Mapping

import msgspec

from cases import cases
from client.http_server import Request, answer, serving
from weft import Client, aio
from weft.api.calls.call import Call
from weft.api.routes.declared import all_calls
from weft.client.api import Api

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
