"""Settings of testers, which look whether what blocked jobs wait for is over."""

from typing import Annotated

from weft.core.addresses import parse_allowed_hosts
from weft.core.ends.conditions import parse_tester_commands, parse_tester_paths
from weft.settings.declare import Checked, section, setting


@section
class TesterSettings:
    """What testers may do, and for how long."""

    tester_timeout_s: float = setting(
        5.0, "seconds for one test of what blocked jobs wait for", minimum=0.1, maximum=300
    )
    tester_private_hosts: Annotated[str, Checked(parse_allowed_hosts)] = setting(
        "",
        "networks and hosts that testers may reach although they are not public, "
        "such as `10.0.0.0/8, db.internal`; `*`: all",
    )
    tester_paths: Annotated[str, Checked(parse_tester_paths)] = setting(
        "", "directories in which the tester `path` may look, such as `/data, /scratch`"
    )
    tester_commands: Annotated[str, Checked(parse_tester_commands)] = setting(
        "",
        "programs that the tester `command` may run, without arguments and with the rights of "
        "the driver, such as `licences=/opt/check-licences`",
    )
