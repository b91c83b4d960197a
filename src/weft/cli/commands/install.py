"""`weft install`: make weft a service of this host."""

from pathlib import Path
from typing import Annotated

from weft.cli.input.options import LOCAL, Local
from weft.cli.input.signature import Parameter
from weft.settings import home_of


def install(
    *,
    systemd: Annotated[bool, Parameter(negative="")],  # noqa: ARG001 (the only kind there is)
    user: Annotated[bool, Parameter(negative="")] = False,
    root: Path = Path("/"),
    shared: Local = LOCAL,
) -> None:
    """Write hardened units of systemd for this weft; `systemctl enable --now` starts one.

        weft install --systemd
        weft install --systemd --user

    `weft.service` is all of weft on one host; `weft-api`, `weft-driver` and
    `weft-worker` are for several hosts with an external database.

    Args:
        systemd: Units of systemd, the only kind there is.
        user: Services of your own, without root, on your home.
        root: Directory of the system for which they are, such as that of an image.
    """
    from weft.run.systemd import write_units  # noqa: PLC0415 (of the server's side)

    paths = [str(path) for path in write_units(root, home_of(shared.home) if user else None)]
    shared.tell({"units": paths}, "\n".join(paths), print)
