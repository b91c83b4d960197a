"""The same report without weft: one process, one loop. `sequential.py FILE`."""

import sys
from pathlib import Path

from counting import Count, measure_file, render, source_files


def main(file: Path) -> None:
    """Measure everything and write the report."""
    total = Count()
    for path in source_files():
        total.add(measure_file(path))
    file.write_text(render(total))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
