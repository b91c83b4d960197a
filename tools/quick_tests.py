"""Run the tests that a change touches, and one fast test of each role.

Touched is a test file that changed, and one that imports a module that changed or that imports
such a module (--depth says how many steps). `make test-quick BASE=main~3` compares with that
commit; without it with where the branch left main, or with the last commit if nothing differs.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
NOT_SLOW = "not slow and not heavy and not fault and not engine and not world"
ALL_SLOW = re.compile(r"^pytestmark = .*?\bmark\.(slow|heavy|fault|engine)\b", re.MULTILINE)
SMOKE = (
    "tests/api/test_process.py",
    "tests/cli/test_app.py",
    "tests/client/test_builder.py",
    "tests/driver/test_black_holes.py",
    "tests/store/test_claims.py",
    "tests/worker/test_running.py",
)
"""Of the api, the command line, the client, the driver, the store and the worker."""
FILES_MAX = 12
"""So many run within a minute; the nearest to the change come first."""


def git(*words: str) -> list[str]:
    """Return the lines that git prints."""
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def changed_files(base: str | None) -> list[str]:
    """Return what differs from the base, with what is new and not yet added."""
    own = base or git("merge-base", "HEAD", "main")[0]
    new = git("ls-files", "--others", "--exclude-standard")
    return [*git("diff", "--name-only", own), *new] or git("diff", "--name-only", "HEAD~1")


def touched_modules(changed: Iterable[str], depth: int) -> list[set[str]]:
    """Return the changed modules, then those that import them, step by step."""
    packages = [path.name for path in ROOT.glob("packages/*/src/weft_*")]
    graph = grimp.build_graph("weft", *packages)
    below = (path.removesuffix(".py").rpartition("src/")[2] for path in changed)
    names = {path.replace("/", ".").removesuffix(".__init__") for path in below}
    steps = [names & graph.modules]
    for _ in range(depth - 1):
        steps.append(
            {one for name in steps[-1] for one in graph.find_modules_that_directly_import(name)}
        )
    return steps


def touched_tests(changed: Iterable[str], depth: int) -> list[str]:
    """Return the changed files of tests, then those that import what changed, nearest first."""
    texts = {
        path: (ROOT / path).read_text()
        for path in git("ls-files", "-co", "--exclude-standard", "*/test_*.py")
        if (ROOT / path).exists()
    }  # also those beside examples and integrations
    quick = {path: text for path, text in texts.items() if not ALL_SLOW.search(text)}
    helpers = {
        path.removeprefix("tests/").removesuffix(".py").replace("/", ".")
        for path in changed
        if path.startswith("tests/") and path.endswith(".py")
    }
    functions = {Path(path).stem for path in changed if path.endswith(".sql")}
    first, *others = touched_modules(changed, depth)
    result = [path for path in changed if path in quick]
    for names in (first | helpers, functions, *others):
        pattern = words_pattern(names)
        result += [path for path, text in quick.items() if pattern.search(text)]
    return list(dict.fromkeys(result))


def words_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Match a name in a text: `weft.core.states`, also as `from weft.core import states`."""
    forms = []
    for name in sorted(names):
        parent, _, last = name.rpartition(".")
        forms.append(rf"\b{re.escape(name)}\b")
        forms += [rf"\bfrom {re.escape(parent)} import [^\n]*\b{re.escape(last)}\b"] * bool(parent)
    return re.compile("|".join(forms) or "(?!)")


def main() -> None:
    """Choose the tests and run them; what stands after `--` goes to pytest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", help="a commit to compare with")
    parser.add_argument("--depth", type=int, default=2, help="steps of imports from the change")
    options, more = parser.parse_known_args()
    chosen = touched_tests(changed_files(options.base or None), options.depth)
    if len(chosen) > FILES_MAX:
        print(f"{len(chosen)} files of tests are touched; these are the {FILES_MAX} nearest.")
    files = dict.fromkeys([*chosen[:FILES_MAX], *SMOKE])
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", NOT_SLOW, *more, *files]
    sys.exit(subprocess.run(pytest, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
