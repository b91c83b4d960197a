"""`weft rename`: another name for a batch, a job or a group."""

from weft.cli.input.edit import edit
from weft.cli.input.options import SHARED, Shared


def rename(target: str, name: str, /, *, shared: Shared = SHARED) -> int:
    """Give a batch, a job or a group another name. That of a group changes the paths below it.

        weft rename b12/stage1 'first stage'

    Args:
        target: `b12`, `b12.j7` or `b12/stage1`.
        name: The new name; empty: none (a group keeps one).
        shared: Options of every command.
    """
    return edit(
        target, {"name": name or None}, shared, done=f"named {name}" if name else "unnamed"
    )
