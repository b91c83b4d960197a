"""What every adapter of the port `LineStore` must do: a part of the api's suite."""

from uuid import uuid4

import pytest

from weft.core.errors import InvalidStatusTransition, SetupNotFound
from weft.core.lines.setup import parse_setup
from weft.testing.store_site import StoreTests

LIFECYCLE = """
[lifecycle.NAME]
statuses = ["new", "over"]
first = ["new"]
next = { new = ["over"], over = [] }
core = { new = "ready", over = "success" }
"""


class LineStoreSuite(StoreTests):
    """Tests of the port `LineStore`."""

    async def test_setup_is_what_was_saved_until_it_is_removed(self) -> None:
        """A repeat changes nothing; a job has the first status, and then the next one."""
        api, caller, name = self.site.api, self.site.caller, f"l{uuid4().hex}"
        text = LIFECYCLE.replace("NAME", name)
        found = parse_setup(text)
        assert list(await api.save_setup(caller, name, text, found)) == [name]
        assert list(await api.save_setup(caller, name, text, found)) == []
        assert (await api.get_setup(caller, name))["document"] == text
        assert (await api.get_lifecycle(caller, name))["next"] == {"new": ["over"], "over": []}
        batch = await self.site.submit(lifecycle=name)
        await api.remove_setup(caller, name)
        with pytest.raises(SetupNotFound):
            await api.get_setup(caller, name)
        after = await api.change_status(caller, batch, 1, status="over", message=None)
        assert (after["status"], after["state"]) == ("over", "ready")
        with pytest.raises(InvalidStatusTransition, match="allows nothing"):
            await api.change_status(caller, batch, 1, status="new", message=None)
