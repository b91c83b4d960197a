"""URLs for objects by the link: the api signs, and the worker never has what it signs with."""

from collections.abc import Sequence

from weft.core.attempt_key import AttemptKey
from weft.extensions.link.worker.calls import LinkCaller
from weft.ports.file_signing import Signed, ToSign


class LinkedSigner:
    """See the port `UrlSigner`."""

    def __init__(self, caller: LinkCaller) -> None:
        self._caller = caller

    async def sign(
        self, incarnation_id: int, key: AttemptKey, wanted: Sequence[ToSign]
    ) -> Sequence[Signed]:
        """Ask the api."""
        signed: Sequence[Signed] = await self._caller.call(
            "sign_files", incarnation_id, key, wanted
        )
        return signed
