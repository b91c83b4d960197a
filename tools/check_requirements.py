"""Say whether the pinned requirements still answer what pyproject.toml asks for; needs no
network.
"""

import re
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)


def _pins(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / name).read_text()
    return {canonicalize_name(package): version for package, version in _PIN.findall(text)}


def _problems() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    runtime = [*project["project"]["dependencies"], *extras["server"], extras["embedded"][-1]]
    development = [*runtime, *project["dependency-groups"]["dev"]]
    plots = [*runtime, *extras["plots"]]
    problems = []
    for name, wanted in (("runtime.txt", runtime), ("plots.txt", plots), ("dev.txt", development)):
        pins = _pins(name)
        for requirement in map(Requirement, wanted):
            version = pins.get(canonicalize_name(requirement.name))
            if version is None or version not in requirement.specifier:
                problems.append(f"requirements/{name} does not answer {requirement}")
    problems += [
        f"requirements/{path.name} names a host: {line}"
        for path in sorted((ROOT / "requirements").glob("*.txt"))
        for line in path.read_text().splitlines()
        if "://" in line or line.startswith(("--index-url", "--extra-index-url", "--find-links"))
    ]
    return problems


def main() -> int:
    """Print each problem; the exit code is 1 if there is one."""
    problems = _problems()
    for problem in problems:
        print(problem)
    if problems:
        print("Run tools/lock.sh and commit what it writes.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
