"""The scripts of `weft completion`. They know no command: each Tab asks `weft --complete`, and its
lines are taken as they are, so that no shell reads a name as code.
"""

from importlib.resources import files
from typing import Final, Literal, get_args

Shell = Literal["bash", "zsh", "fish"]
SHELLS: Final[tuple[str, ...]] = get_args(Shell)


def script_of(shell: str) -> str:
    """Return the script for one of `SHELLS`."""
    return files(__package__).joinpath(f"weft.{shell}").read_text(encoding="utf-8")
