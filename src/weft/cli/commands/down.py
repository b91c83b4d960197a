"""`weft down`: stop `weft up`."""

from weft.cli.input.options import LOCAL, Local
from weft.settings import home_of


def down(*, shared: Local = LOCAL) -> int:
    """Stop the weft server of this home. Acknowledged jobs continue at the next start.

        weft down

    It works even if `weft.toml` cannot be read.
    """
    from weft.run.down import run_down  # noqa: PLC0415 (the server's side)

    return run_down(home_of(shared.home), as_json=shared.json)
