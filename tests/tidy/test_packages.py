"""Each package has all that makes it one, and is held to what packages are held to."""

import tomllib
from typing import Any

import pytest

from tidy.source_files import ROOT

HOUSE: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml"))
OF_TESTS = {"siege", "testing"}
"""No part of what runs: nobody installs them by an extra."""


def contract(start: str) -> dict[str, Any]:
    contracts: list[dict[str, Any]] = HOUSE["tool"]["importlinter"]["contracts"]
    (found,) = (one for one in contracts if one["name"].startswith(start))
    return found


def test_there_are_packages_and_nothing_else_beside_them() -> None:
    folders = sorted(path.name for path in (ROOT / "packages").iterdir() if path.is_dir())

    assert folders == PACKAGES
    assert len(PACKAGES) > 20


@pytest.mark.parametrize("name", PACKAGES)
def test_each_has_its_page_sources_and_weft_of_this_checkout(name: str) -> None:
    project = tomllib.loads((ROOT / f"packages/{name}/pyproject.toml").read_text())["project"]

    assert project["name"] == f"weft-{name}"
    assert project["version"] == HOUSE["project"]["version"]
    assert any("{root:parent:parent:uri}" in one for one in project["dependencies"])
    assert (ROOT / f"packages/{name}/src/weft_{name}/__init__.py").is_file()
    assert (ROOT / f"packages/{name}/README.md").is_file()


@pytest.mark.parametrize("name", [one for one in PACKAGES if one != "testing"])
def test_each_is_held_to_the_contracts(name: str) -> None:
    module = f"weft_{name}"

    assert module in HOUSE["tool"]["importlinter"]["root_packages"]
    assert module in contract("The house imports no package")["forbidden_modules"]
    assert module in contract("Packages do not import each other")["modules"]


@pytest.mark.parametrize("name", [one for one in PACKAGES if one not in OF_TESTS])
def test_each_is_brought_by_an_extra(name: str) -> None:
    extras = HOUSE["project"]["optional-dependencies"]
    by_folder = f"@ {{root:uri}}/packages/{name}"

    assert any(line.endswith(by_folder) for lines in extras.values() for line in lines)


def test_types_of_all_are_checked() -> None:
    paths = {f"packages/{name}/src" for name in PACKAGES}

    assert paths <= set(HOUSE["tool"]["mypy"]["mypy_path"])
