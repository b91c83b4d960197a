"""A production line from a catalogue to announced products, on a server of its own.

Makes a throw-away home, generates scenes, serves catalogue and endpoint on a free port, starts
`weft up`, applies the line, waits until all is announced, prints what became of it, and stops.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from snow_catalogue import REFUSED, SCENES, Site, serving, write_scenes

HERE: Final = Path(__file__).resolve().parent
LIFECYCLE: Final = HERE.parent / "lifecycles" / "hrsi.toml"
WITHIN_S: Final = 150.0
LOOK_S: Final = 1.0
SHOWN: Final = "S2A_32TLR_2027-04-04"
"""Of which the history is printed: its job meets an external error."""


class DemoFailed(Exception):
    """A step of the demo did not do what it should."""


def say(text: str = "") -> None:
    """Print at once, also into a pipe."""
    print(text, flush=True)


class Weft:
    """The command line on one home."""

    def __init__(self, home: Path) -> None:
        self._home = home
        ours = {key: text for key, text in os.environ.items() if not key.startswith("WEFT_")}
        self._environment = {
            **ours,
            "WEFT_HOME": str(home),
            "WEFT_SOURCE_PRIVATE_HOSTS": "127.0.0.1",
            "WEFT_CALLBACK_PRIVATE_HOSTS": "127.0.0.1",
            "WEFT_CALLBACK_RETRY_FIRST_S": "1",
        }

    def ask(self, *arguments: str) -> Any:  # noqa: ANN401 (any JSON)
        """Run a command for its JSON."""
        done = self._run([*arguments, "--json"])
        if done.returncode != 0:
            raise DemoFailed(f"`weft {' '.join(arguments)}` failed: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def show(self, *arguments: str) -> None:
        """Run a command whose output the user sees."""
        say(f"$ weft {' '.join(arguments)}")
        done = self._run(arguments)
        say((done.stdout + done.stderr).rstrip())
        if done.returncode != 0:
            raise DemoFailed(f"`weft {' '.join(arguments)}` ended with {done.returncode}")

    def _run(self, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "weft.cli", *arguments],
            env=self._environment,
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )

    @contextlib.contextmanager
    def up(self) -> Iterator[None]:
        """Have all of weft run in this home."""
        self.show("up", "--detach", "--port", "0")
        try:
            yield
        finally:
            self._run(["down"])


def write_line(home: Path, site: Site) -> Path:
    """Write the file of the line, with its lifecycle and the places of this run."""
    text = (HERE / "snow.toml").read_text()
    places = {"SITE": site.url, "WORK": home / "maps", "PYTHON": sys.executable, "HERE": HERE}
    for word, place in places.items():
        text = text.replace(word, str(place))
    file = home / "snow.toml"
    file.write_text(text + "\n" + LIFECYCLE.read_text())
    return file


def until(what: str, is_so: Callable[[], bool]) -> None:
    """Wait for a fact."""
    end = time.monotonic() + WITHIN_S
    while not is_so():
        if time.monotonic() > end:
            raise DemoFailed(f"after {WITHIN_S:g} s {what}")
        time.sleep(LOOK_S)


def jobs_of(weft: Weft) -> Mapping[str, Any]:
    """Return by scene what became of it: its job, or why it has none."""
    found = {}
    for item in weft.ask("source", "items", "l1c"):
        name = item["job"]
        found[item["key"]] = weft.ask("status", name) if name else item
    return found


def statuses(found: Mapping[str, Any]) -> Counter[str]:
    """Count scenes by the status of their jobs, or the state of those that have none."""
    return Counter(one.get("status") or one["state"] for one in found.values())


def run(home: Path, site: Site) -> None:
    """Run the line once."""
    weft = Weft(home)
    file = write_line(home, site)
    with weft.up():
        weft.show("line", "apply", str(file))
        # Two scenes have no product: one is broken, one too cloudy.
        n_products = len(SCENES) - 2
        until(
            "not all products were announced",
            lambda: (
                n_products
                == sum(
                    one["state"] != "pending" for one in weft.ask("line", "deliveries", "portal")
                )
            ),
        )
        report(weft, site)


def report(weft: Weft, site: Site) -> None:
    """Print what became of the scenes, and check it."""
    found = jobs_of(weft)
    counts = statuses(found)
    say("\nScenes by status")
    for status, n in sorted(counts.items()):
        say(f"  {n:3}  {status}")
    say(f"\nHistory of {SHOWN}")
    words = []
    for row in found[SHOWN]["history"]:
        if "status" in row:
            words.append(row["status"])
            why = ": ".join(filter(None, [row.get("subtype"), row.get("message")]))
            say(f"  {row['at'][11:23]}  {row['status']:<18} {why}".rstrip())
    say("\nProducts")
    say(f"  {'title':<22}{'mode':<9}{'snow %':>7}{'filled %':>10}{'unknown %':>11}")
    for one in [*site.products, *site.refused]:
        said = "  refused" if one in site.refused else ""
        say(
            f"  {one['title']:<22}{one['mode']:<9}{one['snow_percent']:>7}"
            f"{one['filled_percent']:>10}{one['unknown_percent']:>11}{said}"
        )
    say()
    weft.show("series", "show", "l1c", "32TLR")
    if counts != {"done": len(SCENES) - 1, "cancelled": 1}:
        raise DemoFailed(f"the statuses are {dict(counts)}")
    if "external_error" not in words or words[-1] != "done":
        raise DemoFailed(f"the history of {SHOWN} is {words}")
    if [one["title"] for one in site.refused] != [REFUSED]:
        raise DemoFailed(f"refused was {site.refused}")
    modes = {one["title"]: one["mode"] for one in site.products}
    if (
        modes.get("FSC_32TLR_2027-05-05") != "init"
        or modes.get("FSC_32TLR_2027-04-09") != "nominal"
    ):
        raise DemoFailed(f"the modes are {modes}")


def main() -> int:
    """Run the demo; its home goes with it."""
    home = Path(tempfile.mkdtemp(prefix="weft-snow-"))
    started = time.monotonic()
    try:
        with serving(write_scenes(home / "scenes")) as site:
            run(home, site)
    except DemoFailed as error:
        say(f"demo-snow: {error}")
        return 1
    finally:
        shutil.rmtree(home, ignore_errors=True)
    say(f"\ndemo-snow: all as it should be, in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
