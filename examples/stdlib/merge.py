"""Level 2: add up the packages of one letter. `merge.py LETTER DIRECTORY`."""

import sys
from pathlib import Path

from counting import letter_of, packages
from results import read_counts, write_count


def main(letter: str, directory: Path) -> None:
    """Read what level 1 left for this letter and leave the sum."""
    ours = [package for package in packages() if letter_of(package) == letter]
    total = read_counts([directory / "count" / f"{package}.json" for package in ours])
    write_count(directory / "merge" / f"{letter}.json", total)
    print(f"{letter}: {len(ours)} packages, {total.lines} lines")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
