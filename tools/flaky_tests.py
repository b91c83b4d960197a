"""Tell the tests that failed and passed when they ran alone, given pytest's `lastfailed` of the
first run. The exit code is 1 if one of them was told in the seven days before: it is to be mended.

    flaky_tests.py LASTFAILED

`tests/flaky.txt` is the list: whoever sees `flaky: NAME` adds a line with the day and the name, or
mends the test. A line that is older than seven days may go.
"""

import json
import sys
from datetime import date, timedelta
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "tests" / "flaky.txt"
DAYS = timedelta(days=7)


def known_since(today: date) -> dict[str, date]:
    """Return the tests of the list that were told in the last seven days, with the day."""
    lines = (line.split(maxsplit=1) for line in FILE.read_text().splitlines())
    days = {name: date.fromisoformat(day) for day, name in lines}
    return {name: day for name, day in days.items() if today - day <= DAYS}


def main() -> int:
    """Print a line for each; return the exit code."""
    names = sorted(json.loads(Path(sys.argv[1]).read_text()))
    today = date.today()  # noqa: DTZ011 (as whoever writes the list sees it)
    known = known_since(today)
    for name in names:
        again = f", as on {known[name]}: mend it" if name in known else ""
        print(f"flaky: {name}{again}")
    print(f"{len(names)} flaky; for tests/flaky.txt:")
    print("".join(f"{today} {name}\n" for name in names if name not in known), end="")
    return 1 if known.keys() & names else 0


if __name__ == "__main__":
    sys.exit(main())
