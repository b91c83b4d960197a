"""`/v1/secrets`: values for jobs of the caller, which no route returns."""

from litestar import Response, delete, get, post, put

from weft.api.http.parameters import Query
from weft.api.http.path_ids import secret_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import secrets
from weft.wire.documents.batches import Empty
from weft.wire.documents.secrets import Secret, SecretDocument, SecretRemoved, SecretsRotated


@get("/v1/secrets", opt={"page": Secret})
async def list_secrets(request: AnyRequest) -> Response[bytes]:
    """List the caller's secrets by name, without their values."""
    Query(request, ())
    rows = await services_of(request).store.list_secrets(caller_of(request))
    return reply({"items": rows, "cursor": None})


@put("/v1/secrets/{secret:str}", opt={"answer": Secret, "body": SecretDocument})
async def set_secret(request: AnyRequest) -> Response[bytes]:
    """Keep a secret of the caller, encrypted; one of the same name is replaced, and attempts that
    start from now on get the new value.
    """
    Query(request, ())
    name = secret_of(request)
    document = await read_document(request, SecretDocument)
    answer = await secrets.set_secret(services_of(request), caller_of(request), name, document)
    return reply(answer)


@delete("/v1/secrets/{secret:str}", status_code=200, opt={"answer": SecretRemoved, "body": Empty})
async def remove_secret(request: AnyRequest) -> Response[bytes]:
    """Forget a secret of the caller. Jobs that need it and start later end with an error."""
    Query(request, ())
    name = secret_of(request)
    await read_document(request, Empty)
    return reply(await secrets.remove_secret(services_of(request), caller_of(request), name))


@post("/v1/secret-rotation", status_code=200, opt={"answer": SecretsRotated, "body": Empty})
async def rotate_secrets(request: AnyRequest) -> Response[bytes]:
    """Encrypt the secrets of all tenants with the first of the keys, so that others can go."""
    Query(request, ())
    await read_document(request, Empty)
    return reply(await secrets.rotate_secrets(services_of(request), caller_of(request)))


ROUTES = (list_secrets, set_secret, remove_secret, rotate_secrets)
"""The routes of secrets."""
