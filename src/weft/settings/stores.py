"""Settings of stores of objects, from which jobs get files and in which they leave them."""

from typing import Annotated

from weft.core.addresses import parse_allowed_hosts
from weft.settings.declare import Bytes, Checked, section, setting


@section
class StoreSettings:
    """Which stores there may be, and what they may reach."""

    stores_max: int = setting(
        100, "stores of files that a tenant may have", minimum=0, maximum=10_000
    )
    store_single_bytes_max: Bytes = setting(
        256 << 20,
        "bytes of an object that is stored in one request; a larger one goes in parts, and after "
        "a break goes on with the part that is missing",
        minimum=5 << 20,
        maximum=5 << 30,
    )
    store_private_hosts: Annotated[str, Checked(parse_allowed_hosts)] = setting(
        "",
        "networks and hosts where stores of files may be although they are not public, such as "
        "`10.0.0.0/8, minio.internal`; `*`: all",
    )
    store_buckets: str = setting(
        "",
        "buckets that stores may reach with the credentials of this process or its machine "
        "(`--env`, `--instance-role`), such as `genomes, results`; `*`: all; empty: none",
    )
