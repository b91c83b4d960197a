"""Level 3: write the report. `report.py DIRECTORY`."""

import sys
from pathlib import Path

from counting import render
from pipeline import MERGES
from results import read_counts, write_whole


def main(directory: Path) -> None:
    """Read what level 2 left and write `report.txt`."""
    total = read_counts([directory / "merge" / f"{number}.json" for number in range(MERGES)])
    write_whole(directory / "report.txt", render(total))
    print(f"wrote {directory / 'report.txt'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
