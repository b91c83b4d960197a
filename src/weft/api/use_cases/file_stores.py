"""Stores of objects: operators set and remove them, everybody in the tenant sees them."""

from collections.abc import Sequence

from weft.api.calls.call import call
from weft.api.calls.path_ids import StoreName
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.addresses import parse_allowed_hosts
from weft.core.errors import FieldError, FileStoreNotFound, InvalidValue, TooManyFileStores
from weft.core.files.file_stores import parse_bucket, wrong_endpoint, wrong_region
from weft.ports.store import Caller, Row
from weft.ports.store.callers import NewFileStore
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.documents.stores import (
    FileStoreAnswer,
    FileStoreDocument,
    FileStoreRemoved,
    FileStoreTried,
)


@call("GET /v1/stores", Right.READ, page=FileStoreAnswer)
async def list_stores(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the stores of the tenant by name. None shows a credential."""
    return await services.store.list_stores(caller)


@call("PUT /v1/stores/{store}", Right.OPERATE, FileStoreAnswer, client="add_store")
async def save_store(
    services: Services, caller: Caller, name: StoreName, document: FileStoreDocument
) -> Answer:
    """Set a store, in place of one of the same name. Jobs that start from now on use it. Only for
    operators. Raise `InvalidValue`, `TooManyFileStores`.
    """
    errors = _wrong(services, document)
    if document.secret is not None and document.secret not in {
        row["name"] for row in await services.store.list_secrets(caller)
    }:
        message = f"you have no secret {document.secret!r}"
        errors.append(FieldError("/secret", f"{message}; `weft secret set` makes it"))
    if errors:
        raise InvalidValue("the store was not set", errors=errors)
    most = services.settings.stores_max
    new = NewFileStore(
        name=name, url=document.url.removesuffix("/"), endpoint=document.endpoint,
        region=document.region, access=document.access, credentials=document.credentials,
        secret=document.secret,
    )  # fmt: skip
    found = await services.store.save_store(caller, new, stores_max=most)
    if found is None:
        raise TooManyFileStores(
            "the tenant has too many stores", detail=f"It may have {most} (stores_max)."
        )
    log.info("store.set", store=name, url=new.url, user=caller.user_name)
    return dict(found)


@call("GET /v1/stores/{store}", Right.READ, FileStoreAnswer)
async def get_store(services: Services, caller: Caller, name: StoreName) -> Answer:
    """Return a store. Raise `FileStoreNotFound`."""
    stores = await services.store.list_stores(caller, name)
    if not stores:
        raise _not_found(name)
    return dict(stores[0])


@call("POST /v1/stores/{store}/trial", Right.OPERATE, FileStoreTried, client="test_store")
async def try_store(services: Services, caller: Caller, name: StoreName) -> Answer:
    """Try a store as a job would, from the api's host: write, read and remove a small object; in
    one that is only read, ask for an object. What does not work is in the answer. Only for
    operators. Raise `FileStoreNotFound`.
    """
    store = await services.store.find_store(caller, name)
    if store is None or services.objects is None:
        raise _not_found(name)
    steps = await services.objects.attempt(store)
    works = all(step.problem is None for step in steps)
    return {
        "name": name, "url": store.url, "access": store.access, "works": works,
        "steps": [step._asdict() for step in steps],
    }  # fmt: skip


@call("DELETE /v1/stores/{store}", Right.OPERATE, FileStoreRemoved, silent=True)
async def remove_store(services: Services, caller: Caller, name: StoreName) -> Answer:
    """Forget a store. Its objects stay; jobs that name it and start later fail. Only for
    operators. Raise `FileStoreNotFound`.
    """
    if not await services.store.remove_store(caller, name):
        raise _not_found(name)
    log.info("store.removed", store=name, user=caller.user_name)
    return {"name": name}


def _wrong(services: Services, document: FileStoreDocument) -> list[FieldError]:
    errors = []
    try:
        parse_bucket(document.url)
    except ValueError as error:
        errors.append(FieldError("/url", str(error)))
    allowed = parse_allowed_hosts(services.settings.store_private_hosts)
    if document.endpoint is not None and (wrong := wrong_endpoint(document.endpoint, allowed)):
        errors.append(FieldError("/endpoint", wrong))
    if document.region is not None and (wrong := wrong_region(document.region)):
        errors.append(FieldError("/region", wrong))
    if (document.secret is not None) != (document.credentials == "secret"):
        message = "a store names either a secret, or the credentials `env` or `instance-role`"
        errors.append(FieldError("/secret", message))
    return errors


def _not_found(name: str) -> FileStoreNotFound:
    return FileStoreNotFound(
        f"store {name} does not exist", detail="The tenant has no store of this name."
    )
