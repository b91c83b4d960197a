"""Level 1: measure one part of the library. `measure.py PART DIRECTORY [--fail-first]`."""

import os
import sys
from pathlib import Path

from counting import Count, measure_file, part_of
from results import write_count

TRY_AGAIN = 75
"""EX_TEMPFAIL of `sysexits.h`."""


def main(part: int, directory: Path) -> None:
    """Measure, leave the result, and say so."""
    total = Count()
    for path in part_of(part):
        total.add(measure_file(path))
    write_count(directory / "measure" / f"{part}.json", total)
    print(f"part {part}: {total.files} files, {total.lines} lines, {total.functions} functions")
    if total.failures:
        print(f"part {part}: {total.failures} files are not valid Python", file=sys.stderr)


if __name__ == "__main__":
    if "--fail-first" in sys.argv[3:] and os.environ.get("WEFT_ATTEMPT_NO") == "1":
        print("this first attempt fails on purpose", file=sys.stderr)
        sys.exit(TRY_AGAIN)
    main(int(sys.argv[1]), Path(sys.argv[2]))
