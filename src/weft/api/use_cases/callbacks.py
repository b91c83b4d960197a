"""The secret that signs callbacks."""

from weft.api.services import Services
from weft.core.deliveries.callback_signature import tenant_secret
from weft.core.errors import NoCallbackKey
from weft.ports.store import Caller


def get_secret(services: Services, caller: Caller) -> str:
    """Return the secret of the caller's tenant. Raise `NoCallbackKey`."""
    if services.callback_key is None:
        raise NoCallbackKey(
            "this server has no secret for callbacks",
            detail="Its home has no callback.json.",
            hint="Ask the server that `weft up` started, or copy that file from its home.",
        )
    return tenant_secret(services.callback_key, caller.tenant_id)
