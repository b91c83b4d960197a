"""A program: add up the whole numbers below its argument, and print the milliseconds of CPU that
this took. It ends when its parent has ended. Standard library only: it is run by its path.
"""

import os
import sys
import time

_SLICE = 1_000_000


def main(count: int) -> int:
    """Return the exit code."""
    parent = os.getppid()
    total = 0
    for first in range(0, count, _SLICE):
        total += sum(range(first, min(first + _SLICE, count)))
        if os.getppid() != parent:
            return 1
    sys.stdout.write(f"{time.process_time_ns() // 1_000_000}")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
