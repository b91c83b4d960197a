"""Stores of objects: operators set and remove them, everybody in the tenant sees them."""

from weft.api.services import Services
from weft.core.addresses import parse_allowed_hosts
from weft.core.errors import FieldError, FileStoreNotFound, InvalidValue, TooManyFileStores
from weft.core.files.file_stores import parse_bucket, wrong_endpoint, wrong_region
from weft.ports.store import Caller
from weft.ports.store.file_stores import NewFileStore
from weft.submission.services import Answer
from weft.telemetry.log import get_logger
from weft.wire.documents.stores import FileStoreDocument

log = get_logger()


async def save_store(
    services: Services, caller: Caller, name: str, document: FileStoreDocument
) -> Answer:
    """Set a store, in place of one of the same name. Raise `InvalidValue`, `TooManyFileStores`."""
    errors = _wrong(services, document)
    if document.secret is not None and document.secret not in {
        one["name"] for one in await services.store.list_secrets(caller)
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


async def get_store(services: Services, caller: Caller, name: str) -> Answer:
    """Return a store. Raise `FileStoreNotFound`."""
    found = await services.store.list_stores(caller, name)
    if not found:
        raise _not_found(name)
    return dict(found[0])


async def try_store(services: Services, caller: Caller, name: str) -> Answer:
    """Try a store: what works, and what does not and why. Raise `FileStoreNotFound`."""
    store = await services.store.find_store(caller, name)
    if store is None or services.objects is None:
        raise _not_found(name)
    steps = await services.objects.attempt(store)
    works = all(one.problem is None for one in steps)
    return {
        "name": name, "url": store.url, "access": store.access, "works": works,
        "steps": [one._asdict() for one in steps],
    }  # fmt: skip


async def remove_store(services: Services, caller: Caller, name: str) -> Answer:
    """Forget a store. Raise `FileStoreNotFound`."""
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
