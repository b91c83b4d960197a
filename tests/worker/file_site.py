"""Stores of files below one directory."""

from collections.abc import Sequence
from pathlib import Path

from weft.core.addresses import AllowedHosts, parse_allowed_hosts
from weft.core.states import AttemptKey
from weft.plugins.file_stores.local import HostFiles
from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.plugins.file_stores.s3.parts import ObjectHttpCarrier
from weft.plugins.file_stores.web import WebFiles
from weft.plugins.file_stores.weft import KeptFiles
from weft.ports.file_store import Signed, ToSign
from weft.worker.agent.object_uploads import FileSite
from weft.worker.stager.cache import InputCache


def file_site(root: Path, *, for_accounts: bool = False, cache_bytes: int = 1 << 20) -> FileSite:
    """Return stores that keep files below `root`, and give nothing of the host."""
    return FileSite(
        kept=KeptFiles(root / "kept-files"),
        host=HostFiles(()),
        signer=NoSigner(),
        objects=ObjectHttpCarrier(AllowedHosts()),
        web=WebFiles(HttpCarrier(parse_allowed_hosts("127.0.0.1"), 10)),
        for_accounts=for_accounts,
        cache=InputCache(root / "inputs", cache_bytes, for_accounts=for_accounts),
    )


class NoSigner:
    """Signs nothing: there is no store."""

    async def sign(
        self, incarnation_id: int, key: AttemptKey, wanted: Sequence[ToSign]
    ) -> Sequence[Signed]:
        """Refuse."""
        del incarnation_id, key
        return [Signed("", f"there is no store {one.store!r}") for one in wanted]
