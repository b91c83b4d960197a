"""Level 3: write the report. `report.py DIRECTORY`."""

import sys
from pathlib import Path

from counting import letter_of, packages, render
from results import read_counts, write_whole


def main(directory: Path) -> None:
    """Read what level 2 left and write `report.txt`."""
    letters = sorted({letter_of(package) for package in packages()})
    total = read_counts([directory / "merge" / f"{letter}.json" for letter in letters])
    write_whole(directory / "report.txt", render(total))
    print(f"wrote {directory / 'report.txt'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
