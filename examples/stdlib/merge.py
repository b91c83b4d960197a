"""Level 2: add up some parts. `merge.py NUMBER DIRECTORY`."""

import sys
from pathlib import Path

from pipeline import parts_of
from results import read_counts, write_count


def main(number: int, directory: Path) -> None:
    """Read what level 1 left for these parts and leave the sum."""
    parts = parts_of(number)
    total = read_counts([directory / "measure" / f"{part}.json" for part in parts])
    write_count(directory / "merge" / f"{number}.json", total)
    print(f"merge {number}: {len(parts)} parts, {total.lines} lines")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
