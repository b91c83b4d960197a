"""What every provider must do: a suite that an author of a provider subclasses.

    class TestMine(ProviderSuite):
        @pytest.fixture
        async def provider(self) -> AsyncIterator[Provider]:
            ...

Its machines may be the smallest that there are. The methods are coroutines; pytest runs them with
`asyncio_mode = auto` of pytest-asyncio.
"""

import asyncio
from collections.abc import Mapping
from uuid import uuid4

import msgspec
import pytest

from weft.core.pools import Flavour
from weft.core.pools.pool import Option
from weft.ports.provider import FoundMachine, Provider, ProviderError, WantedMachine
from weft_testing.until import LOOK_S

WITHIN_S = 60.0


def wanted(name: str = "") -> WantedMachine:
    """Return a small machine with a name that no other has."""
    flavour = Flavour(name="small", cpu_m=100, memory_mib=64, labels={"rack": "12"})
    return WantedMachine(name=name or f"test-{uuid4().hex[:12]}", pool="default", flavour=flavour)


async def until_gone(provider: Provider, name: str) -> None:
    """Wait until a machine is not there any more."""
    async with asyncio.timeout(WITHIN_S):
        while await provider.describe(name) is not None:  # noqa: ASYNC110 (a provider rings no bell)
            await asyncio.sleep(LOOK_S)


class ProviderSuite:
    """Tests of the port `Provider`. A fixture `provider` gives it, and deletes what it made."""

    options: Mapping[str, Option] = {}
    """Of a pool, without which the provider makes nothing."""

    def wanted(self) -> WantedMachine:
        """Return a small machine that can be made."""
        return msgspec.structs.replace(wanted(), options=self.options)

    async def test_machine_is_made_once_and_found_by_name(self, provider: Provider) -> None:
        """Also if it is asked for twice at the same time; nothing else appears."""
        one = self.wanted()
        before = {other.name for other in await provider.list()}
        made = await asyncio.gather(*(provider.create(one) for _ in range(3)))
        again = await provider.create(one)
        listed = await provider.list()
        found = await provider.describe(one.name)
        await provider.delete(one.name)
        assert {answer.name for answer in made} == {one.name}
        assert len({answer.provider_id for answer in [*made, again]}) == 1
        assert {other.name for other in listed} - before == {one.name}
        assert isinstance(found, FoundMachine)
        assert found.provider_id == again.provider_id

    async def test_machine_is_deleted_once_or_twice(self, provider: Provider) -> None:
        """One that never was is deleted, too."""
        one = self.wanted()
        await provider.create(one)
        for _ in range(2):
            await provider.delete(one.name)
        await provider.delete(f"never-{uuid4().hex}")
        await until_gone(provider, one.name)
        assert one.name not in {other.name for other in await provider.list()}

    async def test_machines_outlive_the_provider(self, provider: Provider) -> None:
        """They are the deployment's, not this process's."""
        one = self.wanted()
        made = await provider.create(one)
        await provider.close()
        found = await provider.describe(one.name)
        await provider.delete(one.name)
        assert found is not None
        assert (found.name, found.provider_id) == (made.name, made.provider_id)

    async def test_unknown_option_is_refused(self, provider: Provider) -> None:
        """Before anything is made."""
        strange = {**self.options, "no_such_option": 1}
        one = self.wanted()
        with pytest.raises(ProviderError):
            await provider.create(
                WantedMachine(name=one.name, pool=one.pool, flavour=one.flavour, options=strange)
            )
        assert await provider.describe(one.name) is None
