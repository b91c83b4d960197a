"""A spawner that writes a line beside its socket whenever it reads the table of processes."""

import sys
from pathlib import Path

from weft.worker.spawner import tree
from weft.worker.spawner.__main__ import main

LOOKS = Path(sys.argv[1]).with_name("looks")
read = tree.read_processes


def counted() -> dict[int, tree.Process]:
    with LOOKS.open("a") as looks:
        looks.write("look\n")
    return read()


tree.read_processes = counted
sys.exit(main(sys.argv[1:]))
