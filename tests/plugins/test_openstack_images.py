"""Images of a template are made once, and again when they cannot become ready, on a stub.

Disks that servers leave behind are found on one, too: the OpenStack of the tests has no Cinder.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from threading import Barrier, BrokenBarrierError
from types import SimpleNamespace

import pytest

from cases import cases
from weft.ports.provider import ProviderError
from weft_openstack.provider.cloud import (
    MARK,
    TEMPLATE,
    Cloud,
    leftovers,
    mark,
    remove,
)
from weft_openstack.settings import OpenStackSettings

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

    def create_server_image(self, _server: str, _name: str, mark: dict[str, str]) -> None:
        assert mark == {MARK: "weft-mine", TEMPLATE: SERVER}
        self.n_made += 1
        self.all.append(image("queued"))


OPTIONS = {"image_prefix": "worker-", "template": "template"}


def asked(stub: _Stub, times: int = 1) -> list[str]:
    """Return what as many machines at once are told."""
    cloud = Cloud(OpenStackSettings(), "")

    def ask(_number: int) -> str:
        try:
            return cloud._image_of(stub, OPTIONS, "weft-mine")
        except ProviderError as error:
            return str(error)

    with ThreadPoolExecutor(times) as threads:
        return list(threads.map(ask, range(times)))


def test_machines_that_are_made_at_once_have_one_image_made() -> None:
    stub = _Stub()
    said = asked(stub, times=8)
    assert stub.n_made == 1
    assert all("is being made" in one for one in said)


@cases(
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


class _Disks:
    """A cloud with one server, and disks; `network` and `images` are empty."""

    def __init__(self, *disks: SimpleNamespace) -> None:
        self.all = {one.id: one for one in disks}
        self.attached: list[SimpleNamespace] = []
        self.compute = self.image = self.block_storage = self

    def has_service(self, service: str) -> bool:
        return service == "block-storage"

    def servers(self, **_query: object) -> list[SimpleNamespace]:
        return [SimpleNamespace(id=SERVER, attached_volumes=self.attached, image=None)]

    def images(self) -> list[SimpleNamespace]:
        return []

    def volumes(self, **_query: object) -> list[SimpleNamespace]:
        return [*self.all.values()]

    def get_volume(self, disk: str) -> SimpleNamespace:
        return self.all[disk]

    def set_volume_metadata(self, disk: SimpleNamespace, **more: str) -> None:
        disk.metadata |= more

    def delete_volume(self, disk: str, *, ignore_missing: bool) -> None:
        assert ignore_missing
        del self.all[disk]


def disk(disk_id: str, status: str = "available", tag: str = "") -> SimpleNamespace:
    marks = {MARK: tag} if tag else {}
    return SimpleNamespace(id=disk_id, name="", status=status, metadata=marks, attachments=[])


def test_disks_that_were_to_end_with_their_server_are_left_over() -> None:
    """Not those that others have, that are used, or that were to outlive it."""
    names = "own", "kept"
    cloud = _Disks(*(disk(one, "in-use") for one in names), disk("other", tag="weft-other"))
    cloud.attached = [
        SimpleNamespace(id=one, volume_id=one, delete_on_termination=one == "own") for one in names
    ]
    assert leftovers(cloud, "weft-mine", "", []) == []
    cloud.attached = []
    for one in names:
        cloud.all[one].status = "available"
    mark(cloud, "weft-mine", cloud.servers())
    (left,) = leftovers(cloud, "weft-mine", "north", [])
    assert (left.kind, left.provider_id, left.region) == ("disk", "own", "north")
    remove(cloud, left)
    assert cloud.all.keys() == {"kept", "other"}


def test_image_that_a_person_takes_of_a_machine_is_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It inherits the marks of the machine's own image, but not its name."""
    marks = {MARK: "weft-mine", TEMPLATE: SERVER}
    made, theirs, old = (
        SimpleNamespace(id=name, name=name, status="active", properties=properties)
        for name, properties in [
            (f"worker-{SERVER[:8]}", marks),
            ("before-upgrade", marks),
            (f"worker-{SERVER[:8]}", {MARK: "weft-other", TEMPLATE: SERVER}),
        ]
    )
    cloud = _Disks()
    monkeypatch.setattr(cloud, "images", lambda: [made, theirs, old])
    (left,) = leftovers(cloud, "weft-mine", "", [])
    assert (left.kind, left.provider_id) == ("image", made.id)
