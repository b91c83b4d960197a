"""Ask each query of the boards: `check.py PROMETHEUS`, the address of one that scrapes a weft.

A query must be taken, and each metric that it names must be one of weft's registries, with the
labels by which it is summed.
"""

import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from weft.telemetry import line_metrics, metrics

HERE = Path(__file__).resolve().parent
OF_PROMETHEUS = {"instance", "le", "role"}
"""Labels that the scrape, histograms and the page of a host add."""


def known() -> dict[str, set[str]]:
    """Return the labels of each series of weft, by its name."""
    assert line_metrics.__name__  # its series join those of metrics.COUNTS
    found: dict[str, set[str]] = {}
    for registry in (metrics.REGISTRY, metrics.COUNTS):
        for collector, names in registry._collector_to_names.items():  # what describe() says
            for name in names:
                found[name] = set(getattr(collector, "_labelnames", ()))
    return found


def queries() -> Iterator[tuple[str, str]]:
    """Yield the board and the text of each query."""
    for file in sorted(HERE.glob("weft-*.json")):
        for panel in json.loads(file.read_text())["panels"]:
            yield from ((file.stem, target["expr"]) for target in panel["targets"])


def wrong_names(query: str, series: dict[str, set[str]]) -> Iterator[str]:
    """Yield the metrics and labels that there are not."""
    names = re.findall(r"\bweft_\w+", query)
    yield from (name for name in names if name not in series)
    labels = set(re.findall(r"\w+", " ".join(re.findall(r"\bby \(([^)]*)\)", query))))
    labels |= set(re.findall(r"(\w+)=~?\"", query))
    for name in names:
        yield from (f"{name}: {one}" for one in labels - series.get(name, labels) - OF_PROMETHEUS)


def ask(prometheus: str, query: str) -> int:
    """Return how many series answer; raise `HTTPError` if it is no query."""
    words = urllib.parse.urlencode({"query": query.replace("$__rate_interval", "1m")})
    with urllib.request.urlopen(f"{prometheus}/api/v1/query?{words}", timeout=10) as answer:
        return len(json.load(answer)["data"]["result"])


def main(prometheus: str) -> int:
    """Ask all queries; return 1 if something is wrong."""
    series, asked, empty, wrong = known(), 0, [], []
    for board, query in queries():
        asked += 1
        wrong += [f"{board}: no {name} in {query}" for name in wrong_names(query, series)]
        try:
            if not ask(prometheus, query):
                empty.append(query)
        except urllib.error.HTTPError as error:
            wrong.append(f"{board}: {query}: {error.read().decode()}")
    print("\n".join([*wrong, *(f"no series yet: {query}" for query in empty)]))
    print(f"{asked} queries, {asked - len(empty)} answered with series, {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
