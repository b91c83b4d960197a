"""What sinks may use in tests."""

from collections.abc import Mapping

from weft.core.addresses import parse_allowed_hosts
from weft.ports.sink import SinkSite
from weft.ports.store import StoredFileStore
from weft.ports.transport import Connection
from weft.wire.sealed import SecretKeys, SecretRow

KEYS, ROW = SecretKeys([bytes(32)]), SecretRow(1, 2, "key")


def site(
    *connections: Connection, stores: Mapping[str, StoredFileStore] | None = None
) -> SinkSite:
    """Return a site of one tenant."""

    async def find(tenant_id: int, name: str) -> StoredFileStore | None:
        assert tenant_id
        return (stores or {}).get(name)

    hosts = parse_allowed_hosts("127.0.0.0/8")
    return SinkSite(connections, find, lambda: KEYS, "", hosts, hosts)
