"""The images of a worker: each is pulled once, and those go that were not used for longest.

    CACHE/sha256-<pin>/  image.json, root/  an unpacked image
                            lock               locked by each of its containers while it runs

A registry is asked again for each pair of image and login after `container_tag_s`: a tag may have
moved, and who may not read an image must not get it because another user's job pulled it.
"""

import asyncio
import fcntl
import hashlib
import os
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from weft.core.states import AttemptKey
from weft.plugins.executors.container.image import Image, path_of, scheme_of
from weft.plugins.executors.container.pulling import ask_digest, no_image, pull, remove_tree
from weft.plugins.executors.container.settings import ContainerSettings
from weft.ports.executor import CannotRun, TenantOf, one_tenant
from weft.ports.shared_room import SharedRoom
from weft.telemetry.log import log

_YOUNG_S: Final = 60.0
"""An image that was used as recently as this stays: another worker of this home may be starting a
container of it.
"""
_STALE_S: Final = 86_400.0
_FAILED_S: Final = 5.0
_DECODER: Final = msgspec.json.Decoder(Image)
_Asked = tuple[str, str]
Login = tuple[str, str] | None
"""Registry and `user:password`."""


class Images:
    """Gives images to attempts, and keeps them while attempts use them."""

    def __init__(
        self, cache: Path, settings: ContainerSettings, tenant_of: TenantOf = one_tenant
    ) -> None:
        self._cache = cache
        self._settings = settings
        self._digests: dict[_Asked, tuple[float, str]] = {}
        """What a registry said, and until when that holds."""
        self._failed: dict[_Asked, tuple[float, CannotRun]] = {}
        self._images: dict[str, Image] = {}
        self._under_way: dict[_Asked, asyncio.Task[Image]] = {}
        self._pulls: dict[str, asyncio.Task[Image]] = {}
        # Any job names a registry, which may be silent.
        self._slots = SharedRoom(2 * settings.container_pulls_max)
        self._tenant_of = tenant_of
        self._used: dict[AttemptKey, str] = {}

    def ready(self, reference: str, login: Login) -> Image | None:
        """Return an image that is there, if nobody need be asked."""
        if scheme_of(reference) == "dir":
            return Image(reference, os.path.realpath(path_of(reference)))
        until, pin = self._digests.get(_asked(reference, login), (0.0, ""))
        return self._known(pin) if until > time.monotonic() else None

    async def get(self, reference: str, login: Login, key: AttemptKey) -> Image:
        """Return an image for an attempt, pulled if need be. Raise `CannotRun`."""
        asked = _asked(reference, login)
        until, error = self._failed.get(asked, (0.0, None))
        if error is not None and until > time.monotonic():
            raise error
        task = self._under_way.get(asked)
        if task is None:
            task = self._under_way[asked] = asyncio.create_task(
                self._get(reference, login, asked, key)
            )
            task.add_done_callback(lambda _: self._under_way.pop(asked, None))
        return await asyncio.shield(task)

    def use(self, key: AttemptKey, image: Image) -> None:
        """Keep an image until `forget`, and note that it was used now."""
        if image.lock:
            self._used[key] = image.lock
            with suppress(OSError):
                os.utime(image.lock)

    def forget(self, key: AttemptKey) -> None:
        """Note that an attempt has ended."""
        self._used.pop(key, None)

    def close(self) -> None:
        """Stop what is being pulled."""
        for task in (*self._under_way.values(), *self._pulls.values()):
            task.cancel()

    async def _get(self, reference: str, login: Login, asked: _Asked, key: AttemptKey) -> Image:
        try:
            async with asyncio.timeout(self._settings.container_pull_s):
                tenant = await self._tenant_of(key)
                async with self._slots.of(tenant):
                    pin = await ask_digest(reference, login)
                image = self._known(pin) or await self._pulled(reference, pin, login, tenant)
        except TimeoutError:
            error = no_image(reference, "the pull takes too long (container_pull_s)")
            self._failed[asked] = (time.monotonic() + _FAILED_S, error)
            raise error from None
        except CannotRun as error:
            self._failed[asked] = (time.monotonic() + _FAILED_S, error)
            log.warning("worker.image_missing", image=reference, why=error.message)
            raise
        self._digests[asked] = (time.monotonic() + self._settings.container_tag_s, pin)
        return image

    async def _pulled(self, reference: str, pin: str, login: Login, tenant: str) -> Image:
        """Pull an image, once for all that wait for it by whatever name."""
        task = self._pulls.get(pin)
        if task is None:
            task = self._pulls[pin] = asyncio.create_task(
                self._pull(reference, pin, login, tenant)
            )
            task.add_done_callback(lambda _: self._pulls.pop(pin, None))
        return await asyncio.shield(task)

    async def _pull(self, reference: str, pin: str, login: Login, tenant: str) -> Image:
        begun = time.monotonic()
        async with self._slots.of(tenant):
            image = await pull(reference, pin, self._folder_of(pin), login)
        ms = round((time.monotonic() - begun) * 1000)
        log.info("worker.image_pulled", image=image.reference, ms=ms, size=image.size_bytes)
        self._images[pin] = image
        await asyncio.to_thread(
            self._prune, self._folder_of(pin).name, Counter(self._used.values())
        )
        return image

    def _known(self, pin: str) -> Image | None:
        """Return an image that is unpacked here."""
        image = self._images.get(pin)
        if image is not None and os.path.exists(image.lock):  # noqa: PTH110 (text)
            return image
        try:
            image = _DECODER.decode((self._folder_of(pin) / "image.json").read_bytes())
        except (OSError, msgspec.MsgspecError):
            self._images.pop(pin, None)
            return None
        self._images[pin] = image
        return image

    def _folder_of(self, pin: str) -> Path:
        return self._cache / (pin.replace(":", "-") or "none")

    def _prune(self, new: str, used: Mapping[str, int]) -> None:
        """Remove the images that were not used for longest, until the rest fits."""
        found: list[tuple[float, Path, int]] = []
        now = time.time()
        for folder in self._cache.iterdir():
            with suppress(OSError, msgspec.MsgspecError):
                if folder.name.startswith("."):
                    if now - folder.stat().st_mtime > _STALE_S:
                        remove_tree(folder)  # an agent was killed while it pulled this
                    continue
                image = _DECODER.decode((folder / "image.json").read_bytes())
                found.append(((folder / "lock").stat().st_mtime, folder, image.size_bytes))
        total = sum(size for _, _, size in found)
        for used_at, folder, size in sorted(found):
            if total <= self._settings.container_cache_bytes:
                return
            lock = str(folder / "lock")
            if folder.name == new or lock in used or now - used_at < _YOUNG_S or _is_locked(lock):
                continue
            gone = folder.with_name(f".gone-{folder.name}")
            with suppress(OSError):
                folder.rename(gone)
                remove_tree(gone)
                total -= size
                log.info("worker.image_removed", image=folder.name, size=size)


def _asked(reference: str, login: Login) -> _Asked:
    return reference, "" if login is None else hashlib.sha256(repr(login).encode()).hexdigest()


def _is_locked(path: str) -> bool:
    """Return whether a container holds the lock of its image: bubblewrap takes it."""
    with Path(path).open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False
