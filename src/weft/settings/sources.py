"""Settings of sources, from which production lines get their items."""

from typing import Annotated

from weft.core.addresses import parse_allowed_hosts
from weft.core.ends.conditions import parse_tester_commands, parse_tester_paths
from weft.settings.declare import Checked, section, setting


@section
class SourceSettings:
    """What sources may read, how much of it, and for how long."""

    source_paths: Annotated[str, Checked(parse_tester_paths)] = setting(
        "", "directories that sources of production lines may read, such as `/data/incoming`"
    )
    source_private_hosts: Annotated[str, Checked(parse_allowed_hosts)] = setting(
        "",
        "networks and hosts that sources of production lines may ask although they are not "
        "public, such as `10.0.0.0/8, catalogue.internal`; `*`: all",
    )
    source_commands: Annotated[str, Checked(parse_tester_commands)] = setting(
        "",
        "programs that sources of kind `command` may run, with the rights of the driver, such as "
        "`scenes=/opt/list-scenes`",
    )
    source_timeout_s: float = setting(
        60.0, "seconds for one reading of a source", minimum=1, maximum=3600
    )
    source_items_max: int = setting(
        500,
        "items of one reading of a source; what is left comes with the next one, at once",
        minimum=1,
        maximum=10_000,
    )
    source_retry_longest_s: float = setting(
        300.0,
        "seconds until a source that fails again and again is read again, at most",
        minimum=1,
        maximum=86_400,
    )
    sources_at_once: int = setting(
        20, "sources that are read at the same time, each in a process", minimum=1, maximum=1000
    )
