"""The images of a worker: each is pulled once, and those go that were not used for longest.

    CACHE/sha256-<pin>/  image.json, root/  an unpacked image
                            lock               locked by each of its containers while it runs

A registry is asked again for each pair of image and login after `container_tag_s`: a tag may have
moved, and who may not read an image must not get it because another user's job pulled it.

Images as they come: asked for with skopeo, unpacked with umoci, both without root.
"""

import asyncio
import base64
import fcntl
import hashlib
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import msgspec

from weft.core.errors import WeftError
from weft.core.states import AttemptKey, Reason
from weft.plugins.executors.container.image import (
    Image,
    command_of,
    digest_of,
    env_of,
    path_of,
    pinned,
    read_config,
    scheme_of,
)
from weft.plugins.executors.container.settings import ContainerSettings
from weft.ports.executor import CannotRun, TenantOf, one_tenant
from weft.ports.shared_room import SharedRoom
from weft.ports.tree_cache import Once, free_some, remove_tree
from weft.settings import outer_environment
from weft.telemetry.log import log

_SAID_MAX: Final = 400
_FULL: Final = "no space left on device"
_MESSAGE: Final = re.compile(r'msg="((?:[^"\\]|\\.)*)"')
_TAG: Final = "weft"


def no_image(reference: str, why: str) -> CannotRun:
    """Return the end of a job whose image cannot be had."""
    reason = Reason.DISK if _FULL in why.lower() else Reason.NO_IMAGE
    return CannotRun(f"the image {reference} cannot be had: {why}", reason=reason)


async def ask_digest(reference: str, login: tuple[str, str] | None) -> str:
    """Return the digest that a name has now. Raise `CannotRun` with the registry's words."""
    manifest = await _run(reference, ["skopeo", "inspect", "--raw"], [reference], login)
    return digest_of(manifest)


async def pull(reference: str, digest: str, folder: Path, login: tuple[str, str] | None) -> Image:
    """Unpack an image into `folder`, which is made whole or not at all. Raise `CannotRun`."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = Path(mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        layout, root = temporary / "layout", temporary / "root"
        source = pinned(reference, digest) if scheme_of(reference) == "docker" else reference
        target = f"oci:{layout}:{_TAG}"
        copy = ["skopeo", "copy", "-q"]
        await _run(reference, copy, [source, target], login, scratch=temporary)
        unpack = ["umoci", "raw", "unpack", "--rootless", "--image", f"{layout}:{_TAG}"]
        await _run(reference, unpack, [str(root)], None, scratch=temporary)
        (temporary / "lock").touch()
        try:
            return await asyncio.to_thread(_finish, reference, digest, temporary, folder)
        except (OSError, ValueError, KeyError, TypeError, msgspec.MsgspecError) as error:
            raise no_image(reference, str(error)[:_SAID_MAX]) from error
    finally:
        await asyncio.to_thread(remove_tree, temporary)


def _finish(reference: str, digest: str, temporary: Path, folder: Path) -> Image:
    config = read_config(temporary / "layout")
    shutil.rmtree(temporary / "layout")
    name = pinned(reference, digest) if scheme_of(reference) == "docker" else reference
    image = Image(
        name if scheme_of(reference) == "docker" else f"{name}@{digest}",
        str(folder / "root"),
        env_of(config),
        command_of(config),
        str(config.get("User") or ""),
        str(folder / "lock"),
        size_of(temporary / "root"),
    )
    (temporary / "image.json").write_bytes(msgspec.json.encode(image))
    try:
        temporary.rename(folder)
    except OSError:
        if not (folder / "image.json").exists():
            raise  # else another worker of this home was faster
    return image


def size_of(directory: Path) -> int:
    """Return how much a tree takes on disk."""
    total = 0
    for at, _, names in os.walk(directory):
        for name in ("", *names):
            with suppress(OSError):
                total += Path(at, name).lstat().st_blocks * 512
    return total


async def _run(
    reference: str,
    words: Sequence[str],
    arguments: Sequence[str],
    login: tuple[str, str] | None,
    *,
    scratch: Path | None = None,
) -> bytes:
    """Run a program to its end; return what it says. Raise `CannotRun`."""
    env = outer_environment()
    # Without it they look for logins below /run/containers, closed to many users.
    env.setdefault("XDG_RUNTIME_DIR", "/nonexistent")
    if scratch is not None:
        env["TMPDIR"] = str(scratch)
    fds = []
    if login is not None:
        fds.append(_login_file(*login))
        words = [*words, "--authfile", f"/proc/self/fd/{fds[0]}"]
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            *arguments,
            env=env,
            pass_fds=fds,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise WeftError(f"{words[0]} cannot be run: {error.strerror}") from error
    finally:
        for fd in fds:
            os.close(fd)
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    if process.returncode != 0:
        raise no_image(reference, _said(err.decode(errors="replace")))
    return out


def _login_file(registry: str, value: str) -> int:
    """Return an open file with a login, which nobody but our child can read."""
    auth = base64.b64encode(value.encode()).decode()
    fd = os.memfd_create("weft-login", 0)
    os.write(fd, msgspec.json.encode({"auths": {registry: {"auth": auth}}}))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _said(text: str) -> str:
    """Return the last words of skopeo or umoci without their frame."""
    found = _MESSAGE.findall(text)
    words = str(found[-1]) if found else " ".join(text.split()[-60:])
    return words.replace('\\"', '"')[:_SAID_MAX] or "it says nothing"


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
        self._images: dict[str, Image] = {}
        self._under_way = Once[Image](_FAILED_S)
        self._pulls = Once[Image]()
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
        get = partial(self._get, reference, login, asked, key)
        return await self._under_way.get(asked, get)

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
        self._under_way.close()
        self._pulls.close()

    async def _get(self, reference: str, login: Login, asked: _Asked, key: AttemptKey) -> Image:
        try:
            async with asyncio.timeout(self._settings.container_pull_s):
                tenant = await self._tenant_of(key)
                async with self._slots.of(tenant):
                    pin = await ask_digest(reference, login)
                # It is pulled once for all that wait for it, by whatever name.
                pull_it = partial(self._pull, reference, pin, login, tenant)
                image = self._known(pin) or await self._pulls.get(pin, pull_it)
        except TimeoutError:
            raise no_image(reference, "the pull takes too long (container_pull_s)") from None
        except CannotRun as error:
            log.warning("worker.image_missing", image=reference, why=error.message)
            raise
        self._digests[asked] = (time.monotonic() + self._settings.container_tag_s, pin)
        return image

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

        def is_kept(folder: Path) -> bool:
            lock = str(folder / "lock")
            return folder.name == new or lock in used or _is_locked(lock)

        bytes_max = self._settings.container_cache_bytes
        for name, size in free_some(self._cache, _read, bytes_max, is_kept):
            log.info("worker.image_removed", image=name, size=size)


def _read(folder: Path) -> tuple[float, int]:
    image = _DECODER.decode((folder / "image.json").read_bytes())
    return (folder / "lock").stat().st_mtime, image.size_bytes


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
