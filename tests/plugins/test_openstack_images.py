"""Images of a template are made once, and again when they cannot become ready, on a stub."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from threading import Barrier, BrokenBarrierError
from types import SimpleNamespace

import pytest

from weft.plugins.providers.openstack.cloud import Cloud
from weft.plugins.providers.openstack.settings import OpenStackSettings
from weft.ports.provider import ProviderError

SERVER = "0123456789abcdef"


def image(status: str, *, hours: float = 0.0, image_id: str = "made") -> SimpleNamespace:
    """Return an image as the SDK does."""
    created = (datetime.now(UTC) - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return SimpleNamespace(id=image_id, status=status, created_at=created)


class _Stub:
    """The part of a cloud with images: whoever asks which there are waits a moment for another one
    who asks at the same time.
    """

    def __init__(self, images: Sequence[SimpleNamespace] = ()) -> None:
        self.all = list(images)
        self.n_made = 0
        self.two_ask = Barrier(2)
        self.image = self.compute = self

    def find_server(self, _name: str) -> SimpleNamespace:
        return SimpleNamespace(id=SERVER)

    def images(self, name: str) -> Sequence[SimpleNamespace]:
        assert name == f"worker-{SERVER[:8]}"
        found = list(self.all)
        with suppress(BrokenBarrierError):
            self.two_ask.wait(timeout=0.02)
        return found

    def create_server_image(self, _server: str, _name: str) -> None:
        self.n_made += 1
        self.all.append(image("queued"))


def asked(stub: _Stub, times: int = 1) -> list[str]:
    """Return what as many machines at once are told."""
    cloud = Cloud(OpenStackSettings(), "")

    def ask(_number: int) -> str:
        try:
            return cloud._image_of(stub, "worker-", "template")
        except ProviderError as error:
            return str(error)

    with ThreadPoolExecutor(times) as threads:
        return list(threads.map(ask, range(times)))


def test_machines_that_are_made_at_once_have_one_image_made() -> None:
    stub = _Stub()
    said = asked(stub, times=8)
    assert stub.n_made == 1
    assert all("is being made" in one for one in said)


@pytest.mark.parametrize(
    ("images", "n_made"),
    [
        ([image("saving")], 0),
        ([image("killed")], 1),
        ([image("error"), image("deactivated")], 1),
        ([image("queued", hours=2)], 1),
        ([image("error"), image("queued")], 0),
    ],
)
def test_image_that_will_not_be_ready_is_made_again(
    images: list[SimpleNamespace], n_made: int
) -> None:
    stub = _Stub(images)
    asked(stub)
    assert stub.n_made == n_made


def test_newest_image_is_used() -> None:
    old, new = image("active", hours=9, image_id="old"), image("active", image_id="new")
    assert asked(_Stub([old, image("killed"), new])) == ["new"]
