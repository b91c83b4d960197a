"""Queries of benches: those in `sql/` beside this file, and those of `weft bench`."""

from pathlib import Path

from weft.bench import figures
from weft.sql import SqlFile

_FOLDER = Path(__file__).with_name("sql")


def query(name: str) -> str:
    """Return the text of a query."""
    file = _FOLDER / f"{name}.sql"
    return SqlFile(name, file.read_text()).text if file.is_file() else figures.query(name)
