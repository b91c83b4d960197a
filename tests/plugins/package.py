"""A package that brings plug-ins, installed for a test."""

from pathlib import Path

import pytest


def install(path: Path, patch: pytest.MonkeyPatch, **plugins: str) -> None:
    """Install plug-ins for this and started processes: by group, lines of `NAME = MODULE:WHAT`."""
    facts = path / "brings_plugins-1.0.dist-info"
    facts.mkdir(parents=True, exist_ok=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: brings-plugins\nVersion: 1.0\n")
    groups = (f"[weft.{group}]\n{lines}\n" for group, lines in plugins.items())
    (facts / "entry_points.txt").write_text("".join(groups))
    patch.syspath_prepend(path)
    patch.setenv("PYTHONPATH", str(path))
