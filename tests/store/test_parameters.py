"""Parameters of production lines and their versions."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from store.site import Site
from weft.core.errors import ParameterNotFound, ParameterOfOtherType
from weft.extensions.lines.rules.setup import parse_setup


async def test_parameter_has_all_its_versions(site: Site) -> None:
    """One type for ever; the same value again is no version; a file sets what it changes."""
    api, caller, name = site.api, site.caller, f"p{uuid4().hex}"
    first = await api.set_parameter(caller, name, 7, None)
    assert (first["version"], first["type"], first["setup"]) == (1, "integer", None)
    between = datetime.now(UTC)
    assert (await api.set_parameter(caller, name, 7, None))["version"] == 1
    for wrong in (7.5, "7", True, [7]):
        with pytest.raises(ParameterOfOtherType):
            await api.set_parameter(caller, name, wrong, None)
    for n, expected in ((8, 2), (8, 2), (9, 3)):
        text = f"[parameters]\n{name} = {n}\n"
        await api.save_setup(caller, name, text, parse_setup(text))
        (row,) = await api.list_versions(caller, name, before=None, limit=1)
        assert (row["version"], row["value"], row["setup"]) == (expected, n, name)
    await api.set_parameter(caller, name, 10, None)
    last = f"[parameters]\n{name} = 9\n"
    assert list(await api.save_setup(caller, name, last, parse_setup(last))) == []
    rows = await api.list_versions(caller, name, before=None, limit=9)
    assert [row["version"] for row in rows] == [4, 3, 2, 1]
    assert [row["value"] for row in rows] == [10, 9, 8, 7]
    older = await api.list_versions(caller, name, before=3, limit=1)
    assert [row["version"] for row in older] == [2]
    for as_of, value in ((None, 10), (between, 7), (datetime(2020, 1, 1, tzinfo=UTC), None)):
        found = await api.list_parameters(caller, names=[name], as_of=as_of, after="", limit=9)
        assert [row["value"] for row in found] == ([] if value is None else [value])
    with pytest.raises(ParameterNotFound):
        await api.list_versions(caller, "gone", before=None, limit=1)


async def test_dates_are_dates(site: Site) -> None:
    """In its first value, and in all that follow."""
    api, caller, name = site.api, site.caller, f"p{uuid4().hex}"
    await api.set_parameter(caller, name, "2020-05-01", "date")
    await api.set_parameter(caller, name, "2020-05-01T10:00:00Z", None)
    for wrong in ("2020-13-01", "soon", "2020-05-01 10:00", 2020):
        with pytest.raises(ParameterOfOtherType):
            await api.set_parameter(caller, name, wrong, None)
