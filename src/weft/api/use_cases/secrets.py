"""Secrets: a caller sets, lists and removes their own."""

from collections.abc import Sequence
from typing import Final

from weft.api.calls.call import call
from weft.api.calls.path_ids import SecretName
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.errors import FieldError, SecretNotFound, SecretUnreadable, TooLarge
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.documents.secrets import Secret, SecretDocument, SecretRemoved, SecretsRotated
from weft.wire.sealed import SecretKeys, SecretRow

_BYTES_OF_CHAR: Final = 4


_ROTATED_AT_ONCE: Final = 100


@call("GET /v1/secrets", Right.READ, page=Secret)
async def list_secrets(services: Services, caller: Caller) -> Sequence[Row]:
    """Return one's secrets by name, without their values."""
    return await services.store.list_secrets(caller)


@call("PUT /v1/secrets/{secret}", Right.WRITE, Secret, client="")
async def set_secret(
    services: Services, caller: Caller, name: SecretName, document: SecretDocument
) -> Answer:
    """Keep a secret for one's jobs, encrypted, in place of one of the same name. Attempts that
    start from now on get the new value. Raise `SecretKeyMissing`, `TooLarge`,
    `TooManySecrets`.
    """
    body = sealed(services, caller, name, document.value)
    most = services.settings.secrets_per_user_max
    found = await services.store.set_secret(caller, name, body, secrets_max=most)
    log.info("secret.set", secret=name, user=caller.user_name)
    return dict(found)


def sealed(services: Services, caller: Caller, name: str, value: str) -> bytes:
    """Return the encrypted value of a secret. Raise `SecretKeyMissing`, `TooLarge`."""
    most = services.settings.secret_bytes_max
    if _BYTES_OF_CHAR * len(value) > most and (size := len(value.encode())) > most:
        message = f"{size} bytes, at most {most} (secret_bytes_max)"
        raise TooLarge(
            f"the value of secret {name} is too large",
            detail=f"It has {message}.",
            hint="Keep a key that decrypts it as the secret, and the rest in a file.",
            errors=[FieldError("/value", message)],
        )
    row = SecretRow(caller.tenant_id, caller.user_id, name)
    return services.secret_keys().seal(value, row)


@call("DELETE /v1/secrets/{secret}", Right.WRITE, SecretRemoved, silent=True)
async def remove_secret(services: Services, caller: Caller, name: SecretName) -> Answer:
    """Forget one of one's secrets: no attempt gets it from now on. Jobs that need it and start
    later end with an error. Raise `SecretNotFound`.
    """
    if not await services.store.remove_secret(caller, name):
        raise SecretNotFound(
            f"secret {name} does not exist", detail="You have no secret with this name."
        )
    log.info("secret.removed", secret=name, user=caller.user_name)
    return {"name": name}


@call("POST /v1/secret-rotation", Right.ADMINISTER, SecretsRotated)
async def rotate_secrets(services: Services, caller: Caller) -> Answer:
    """Encrypt all secrets of all tenants with the first key, so that others can go; return
    `n_rotated` and the `key`. Only for administrators of the site. Raise `RightMissing`, and
    `SecretKeyMissing` if one was encrypted with a key that is not here; those before it are done.
    """
    keys, n = services.secret_keys(), 0
    while former := await services.store.list_stale_secrets(
        caller, keys.current, limit=_ROTATED_AT_ONCE
    ):
        bodies = [keys.seal(_opened(keys, body, row), row) for row, body in former]
        n += await services.store.reseal_secrets(caller, former, bodies)
    log.info("secret.rotated", n=n, user=caller.user_name)
    return {"n_rotated": n, "key": keys.current.hex()}


def _opened(keys: SecretKeys, body: bytes, row: SecretRow) -> str:
    try:
        return keys.open(body, row)
    except ValueError as error:
        raise SecretUnreadable(
            f"secret {row.name} of user {row.user_id} cannot be decrypted",
            detail=f"{str(error).capitalize()}.",
            hint="Let its user set it again or remove it, then rotate again.",
        ) from error
