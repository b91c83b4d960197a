"""What tests of providers share: a deployment, a machine, and what stands for weft on it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import msgspec
import pytest

from weft.ports.provider import MachineCredential, Provider, ProviderSite, WantedMachine
from weft.settings import Settings
from weft_testing.provider_suite import ProviderSuite, until_gone, wanted

CONNECT = "https://weft.example.org"
TOKEN = "weft_7"


class Closable(Provider, Protocol):
    """A provider that holds connections."""

    async def close(self) -> None:
        """Let go of them."""


ProviderT = TypeVar("ProviderT", bound=Closable)


def site_with(section: Any, logs: Path) -> ProviderSite:  # noqa: ANN401 (settings of a plug-in)
    """Return a deployment that no other test has."""
    settings = Settings(plugin_sections=(section,))
    return ProviderSite(tag=str(uuid4()), environment={}, logs=logs, section=settings.section)


@asynccontextmanager
async def cleaned(provider: ProviderT) -> AsyncIterator[ProviderT]:
    """Give a provider, and leave none of its machines."""
    yield provider
    for one in await provider.list():
        await provider.delete(one.name)
        await until_gone(provider, one.name)
    await provider.close()


def write_program(directory: Path, text: str) -> Path:
    """Write what stands for weft on a machine: it says with what it was called."""
    path = directory / "weft"
    path.write_text(text)
    path.chmod(0o700)
    return path


class DeploymentSuite(ProviderSuite):
    """The suite of the port, on clouds and clusters that deployments share."""

    async def test_other_deployments_are_left_alone(
        self,
        provider: Any,  # noqa: ANN401 (one of a kind)
        site: ProviderSite,
    ) -> None:
        one = self.wanted()
        made = await provider.create(one)
        other = type(provider)(replace(site, tag=f"{site.tag}x"))
        await other.delete(one.name)
        assert await other.list() == []
        await other.close()
        assert [found.provider_id for found in await provider.list()] == [made.provider_id]


class ProgramSuite(DeploymentSuite):
    """The suite, where machines run what the module calls `PROGRAM`."""

    @pytest.fixture(autouse=True)
    def _program(self, program: Path) -> None:
        self.options = {"program": str(program)}

    def wanted(self) -> WantedMachine:
        return machine_for(Path(str(self.options["program"])))


def machine_for(program: Path, /, **options: str | int) -> WantedMachine:
    """Return a machine that is to start a program."""
    return msgspec.structs.replace(
        wanted(),
        options={"program": str(program), **options},
        credential=MachineCredential(token=TOKEN),
    )
