"""Images as they come: asked for with skopeo, unpacked with umoci, both without root."""

import asyncio
import base64
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import msgspec

from weft.core.errors import WeftError
from weft.core.states import Reason
from weft.plugins.executors.container.image import (
    Image,
    command_of,
    digest_of,
    env_of,
    pinned,
    read_config,
    scheme_of,
)
from weft.ports.executor import CannotRun
from weft.ports.tree_cache import remove_tree
from weft.settings import outer_environment

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
    if scratch is not None:
        env["TMPDIR"] = str(scratch)
    fds = []
    if login is not None:
        fds.append(_login_file(*login))
        words = [*words, "--authfile", f"/proc/self/fd/{fds[0]}"]
    try:
        process = await asyncio.create_subprocess_exec(
            *words, *arguments, env=env, pass_fds=fds, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
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
