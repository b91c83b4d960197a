"""A spawner that writes a line beside its socket whenever it reads the table of processes, or the
list of its children.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.worker.spawner import tree
from weft.worker.spawner.__main__ import main

LOOKS = Path(sys.argv[1]).with_name("looks")


def counted(read: Callable[..., Any], word: str) -> Callable[..., Any]:
    def call(*given: object) -> Any:  # noqa: ANN401 (as what is counted)
        with LOOKS.open("a") as looks:
            looks.write(word + "\n")
        return read(*given)

    return call


tree.read_processes = counted(tree.read_processes, "look")
tree.Children.read = counted(tree.Children.read, "children")  # type: ignore[method-assign]
sys.exit(main(sys.argv[1:]))
