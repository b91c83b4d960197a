"""Say whether the pinned requirements still answer what weft and its packages ask for; needs no
network.

    check_requirements.py
    check_requirements.py --wanted EXTRA …    what these extras bring, without packages of weft

Of packages of weft the extra names their folder, and what they need counts.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)


def _pins(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / name).read_text()
    return {canonicalize_name(package): version for package, version in _PIN.findall(text)}


def _project(folder: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text())


def wanted(*extras: str, folder: str = ".") -> set[str]:
    """Return what a project and these extras of it need, from others than weft."""
    project = _project(folder)["project"]
    given = project.get("optional-dependencies", {})
    lines = {*project["dependencies"], *(line for extra in extras for line in given[extra])}
    others = {line for line in lines if not re.match(r"weft\b", line)}
    for line in lines - others:
        name, own = re.match(r"weft-?(\w*)(?:\[([\w,]+)\])?", line).groups()  # type: ignore[union-attr]
        if name or own:
            others |= wanted(*filter(None, (own or "").split(",")), folder=_folder(name))
    return others


def _folder(name: str) -> str:
    return f"packages/{name}" if name else "."


def _problems() -> list[str]:
    runtime = wanted("server", "embedded")
    development = runtime | {*_project(".")["dependency-groups"]["dev"]}
    plots = runtime | wanted("plots")
    problems = []
    for name, lines in (("runtime.txt", runtime), ("plots.txt", plots), ("dev.txt", development)):
        pins = _pins(name)
        for requirement in map(Requirement, sorted(lines)):
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
    if sys.argv[1:2] == ["--wanted"]:
        print(*sorted(wanted(*sys.argv[2:])), sep="\n")
        sys.exit(0)
    sys.exit(main())
