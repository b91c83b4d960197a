"""Messages as objects of a store of files (ADR 119): a repeat writes the same object again."""

import hashlib
from collections.abc import Mapping
from tempfile import TemporaryFile
from typing import Any, Final

from weft.core.files.file_paths import WrongPath, parts_of
from weft.core.text.filling import FIELD
from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.plugins.file_stores.s3.signing import NotSigned, ObjectUrls
from weft.ports.file_store import FileProblem, HeldFile
from weft.ports.line_kinds import SinkKind
from weft.ports.senders import Answered
from weft.ports.sink import MANY, SinkMessage, SinkReader, SinkSite, Target

_TIMEOUT_S: Final = 30.0


def _target(reader: SinkReader) -> Target:
    names = {"each": "${job.file}", **dict.fromkeys(MANY[1:], "${job.file}.json")}
    name = next((names[one] for one in names if reader.document.get(one)), "message.json")
    usual = {"key": f"work/jobs/${{job.id}}/{name}"}
    return reader.target("store", "key", usual=usual, check=_wrong_key)


def _wrong_key(name: str, given: str) -> str:
    try:
        parts_of(FIELD.sub("x", given) if name == "key" else "x")
    except WrongPath as error:
        return str(error)
    return ""


KIND: Final = SinkKind(("store", "key"), _target, position=3)


class S3Sink:
    """Writes to stores of the tenant, with their credentials."""

    def __init__(self, site: SinkSite) -> None:
        self._find_store = site.find_store
        self._urls = ObjectUrls(site.keys, site.store_buckets)
        self._carrier = HttpCarrier(site.allowed, _TIMEOUT_S)

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        """Write an object, which appears whole or not at all."""
        del sink
        name = message.target["store"]
        store = await self._find_store(message.tenant_id, name)
        if store is None:
            return Answered(error=f"there is no store {name!r}")
        if store.access != "write":
            return Answered(error=f"nothing is written to store {name!r}")
        digest = hashlib.sha256(message.body).digest()
        try:
            url = await self._urls.url_of("PUT", store, message.target["key"])
            with TemporaryFile() as file:
                file.write(message.body)
                file.flush()
                held = HeldFile(file.fileno(), len(message.body), digest)
                await self._carrier.write(url, held)
        except (FileProblem, NotSigned, OSError) as error:
            return Answered(error=str(error))
        return Answered(delivered=True)

    async def close(self) -> None:
        """Nothing stays open."""
