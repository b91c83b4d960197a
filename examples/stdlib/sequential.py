"""The same report without weft: one process, one loop. `sequential.py FILE`."""

import sys
from pathlib import Path

from counting import STDLIB, Count, count_file, packages, render, source_files


def main(file: Path) -> None:
    """Count everything and write the report."""
    total = Count()
    for package in packages():
        for path in source_files(STDLIB / package):
            total.add(count_file(package, path))
    file.write_text(render(total))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
