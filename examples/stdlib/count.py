"""Level 1: count one package. `count.py PACKAGE DIRECTORY`."""

import sys
from pathlib import Path

from counting import STDLIB, Count, count_file, source_files
from results import write_count


def main(package: str, directory: Path) -> None:
    """Count, leave the result, and say so."""
    total = Count()
    for path in source_files(STDLIB / package):
        total.add(count_file(package, path))
    write_count(directory / "count" / f"{package}.json", total)
    print(f"{package}: {total.files} files, {total.lines} lines, {total.tokens} tokens")
    if total.failures:
        print(f"{package}: {total.failures} files could not be tokenized", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
