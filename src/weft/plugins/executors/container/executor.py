"""The executor `container`: the job is a process of the worker's host in the root of an image.

bubblewrap makes the namespaces, without root and without a daemon, so the process is a child of
the spawner like all others (ADR 108). It must not start anything but pulls of images.

The root is made anew for each job, of the entries of the image, because places for mounts that an
image does not have cannot be made in the image itself: other jobs use it.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Final

from weft.core.errors import Conflict, WeftError
from weft.core.files.products import PRODUCTS_VARIABLE
from weft.core.notes import NOTES_VARIABLE
from weft.core.progress_file import PROGRESS_VARIABLE
from weft.core.states import AttemptKey, Reason
from weft.core.text.texts import parse_paths
from weft.plugins.executors.container.image import (
    Image,
    has_program,
    numbers_of,
    path_of,
    scheme_of,
)
from weft.plugins.executors.container.images import Images, Login
from weft.plugins.executors.container.settings import ContainerSettings
from weft.plugins.executors.job_environment import (
    identity_of,
    process_of,
    program_of,
    variables_of,
)
from weft.ports.executor import CannotRun, ExecutorSite, ToStart
from weft.wire.spawner import CONTAINER_WORK, USUAL_PATH, StartProcess
from weft.wire.spec import JobSpec

_OWN: Final = frozenset({"/dev", "/proc", "/sys", "/tmp", "/run", "/weft"})  # noqa: S108 (its own)
_EMPTY: Final = ("/tmp", "/run")  # noqa: S108 (its own)


def root_words(root: str, targets: Sequence[str]) -> list[str]:
    """Return the words that show an image, with places for what is mounted at `targets`. Raise
    `WeftError` if one of them cannot be made.
    """
    for target in targets:
        own = _OWN - {"/tmp"}  # noqa: S108
        if target == "/" or any(target == path or target.startswith(f"{path}/") for path in own):
            raise WeftError(f"nothing can be mounted at {target}")
        if ".." in target.split("/"):
            raise WeftError(f"the mount {target} must not contain ..")
        _check_path(root, target)
    words = list(_shown(root, "", targets))
    for one in _EMPTY:
        words += ["--tmpfs", one]
    if os.path.isdir(f"{root}/var/tmp"):  # noqa: PTH112, S108 (text; its own)
        words += ["--tmpfs", "/var/tmp"]  # noqa: S108 (its own)
    return [*words, "--dev", "/dev", "--proc", "/proc", "--ro-bind-try", "/sys", "/sys"]


def _check_path(root: str, target: str) -> None:
    """Raise `WeftError` if a mount would lead through a symlink of the image."""
    at = root
    for part in (one for one in target.split("/") if one):
        at = f"{at}/{part}"
        if os.path.islink(at):  # noqa: PTH114 (text)
            raise WeftError(f"the mount {target} leads through a symlink of the image")


def _shown(root: str, directory: str, targets: Sequence[str]) -> Iterator[str]:
    """Yield the words for the entries of a directory of the image."""
    with os.scandir(root + directory) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = f"{directory}/{entry.name}"
        if path in _OWN or path in targets:
            continue
        inner = [target for target in targets if target.startswith(f"{path}/")]
        if entry.is_symlink():
            yield from ("--symlink", os.readlink(entry.path), path)  # noqa: PTH115 (text)
        elif entry.is_dir() and not all(os.path.lexists(root + one) for one in inner):
            yield from ("--dir", path)
            yield from _shown(root, path, inner)
        elif entry.is_dir() or entry.is_file():
            yield from ("--ro-bind", entry.path, path)


_APART: Final = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--hostname",
    "weft",
    "--cap-drop",
    "ALL",
)
_PROGRAMS: Final = ("bwrap", "skopeo", "umoci")
_OF_NETWORK: Final = ("/etc/resolv.conf", "/etc/hosts")
_OF_GPUS: Final = ("/dev/dri", "/dev/kfd")
_IMAGE_AT: Final = "/weft/image"
_FILES_AT: Final = (
    (PRODUCTS_VARIABLE, "/weft/products"),
    (PROGRESS_VARIABLE, "/weft/progress"),
    (NOTES_VARIABLE, "/weft/notes"),
)
_SAID_MAX: Final = 120
_INSTALL: Final = (
    "Install bubblewrap, skopeo and umoci, allow user namespaces, and run the worker as a plain "
    "user; or leave `containers` off."
)


class NoContainers(Conflict, code="WORKER.NO_CONTAINERS"):
    """The setting `containers` asks for containers, but this host cannot run them."""


class ContainerExecutor:
    """Turn a spec into one process in a container."""

    runner = "spawner"

    def __init__(self) -> None:
        self._environment = {"PATH": USUAL_PATH, "LANG": "C.UTF-8", "TMPDIR": "/tmp"}  # noqa: S108 (its own)
        self._settings = ContainerSettings()
        self._images: Images | None = None
        self._paths: tuple[str, ...] = ()
        self._hidden: tuple[str, ...] = ()
        self._ready: dict[AttemptKey, Image] = {}

    def settle(self, site: ExecutorSite) -> None:
        """Learn where this worker keeps images. Raise `NoContainers`."""
        if why_not := why_no_containers():
            raise NoContainers(
                "cannot run containers", detail=f"The reason: {why_not}.", hint=_INSTALL
            )
        self._settings = settings = site.section(ContainerSettings)
        cache = settings.container_cache or site.home / "images"
        self._images = Images(cache, settings, site.tenant_of)
        self._paths = tuple(map(os.path.realpath, parse_paths(settings.container_paths)))
        self._hidden = (os.path.realpath(site.home),)

    def prepared(self, key: AttemptKey, spec: JobSpec, logins: Mapping[str, str]) -> bool:
        """Return whether the image is here; if so, it stays until `forget`."""
        reference, login = self._asked(spec, logins)
        assert self._images is not None
        image = self._images.ready(reference, login)
        if image is not None:
            self._use(key, image)
        return image is not None

    async def prepare(self, key: AttemptKey, spec: JobSpec, logins: Mapping[str, str]) -> None:
        """Pull the image. Raise `CannotRun`."""
        assert self._images is not None
        self._use(key, await self._images.get(*self._asked(spec, logins), key))

    def forget(self, keys: Iterable[AttemptKey]) -> None:
        for key in keys:
            if self._ready.pop(key, None) is not None and self._images is not None:
                self._images.forget(key)

    def close(self) -> None:
        """Stop what is being pulled."""
        if self._images is not None:
            self._images.close()

    def environment_of(self, spec: JobSpec) -> dict[str, str]:  # noqa: ARG002 (of the port)
        """Return what all containers have; the caller's environment is that of another host."""
        return self._environment

    def definition_of(self, spec: JobSpec) -> bytes | None:  # noqa: ARG002 (of the port)
        return None

    def start_of(self, attempt: ToStart) -> StartProcess:
        key, spec = attempt.key, attempt.spec
        image = self._ready[key]
        argv, script = program_of(spec)
        argv = argv if argv or script is not None else image.command
        if not argv and script is None:
            raise CannotRun("neither the job nor its image says what to run")
        # Files of the host by which jobs say what they wait for are not seen there.
        limits = replace(attempt.limits, block_files="", message_files="")
        variables = variables_of(key, spec, limits)
        own = {**identity_of(key, spec), **(spec.env or {}), **variables}
        env = {"HOME": CONTAINER_WORK if spec.cwd is None else "/tmp", **image.env, **own}  # noqa: S108
        words = self._words(image, attempt)
        for name, there in _FILES_AT:
            if file := variables.get(name):
                if name == NOTES_VARIABLE:
                    Path(file).mkdir(0o700, exist_ok=True)
                else:
                    Path(file).touch(0o600)  # its user is the worker's, whatever its number there
                words, env[name] = (*words, "--bind", file, there), there
        if script is None:
            self._check_program(image, spec, argv[0], env.get("PATH", USUAL_PATH))
        return process_of(
            attempt,
            argv,
            env,
            script=script,
            sandbox=words,
            is_contained=True,
            note=f"image {image.reference}",
        )

    def _asked(self, spec: JobSpec, logins: Mapping[str, str]) -> tuple[str, Login]:
        """Return the image and the login for it. Raise `CannotRun` if it may not run here."""
        if spec.container is None:
            raise CannotRun("the job has no container")
        reference = spec.container.image
        allowed = [one.strip() for one in self._settings.container_images.split(",")]
        if any(allowed) and not any(one and reference.startswith(one) for one in allowed):
            raise CannotRun(f"the worker does not run the image {reference} (container_images)")
        if scheme_of(reference) != "docker":
            self._check_path(path_of(reference), "the image")
            return reference, None
        return reference, next(iter(logins.items()), None)

    def _use(self, key: AttemptKey, image: Image) -> None:
        assert self._images is not None
        self._ready[key] = image
        self._images.use(key, image)

    def _check_path(self, path: str, what: str) -> str:
        """Return a path of the host without symlinks. Raise `CannotRun` if it is not allowed."""
        real = os.path.realpath(path)
        if not any(real == one or real.startswith(one.rstrip("/") + "/") for one in self._paths):
            raise CannotRun(f"{what} {path} is not below the worker's `container_paths`")
        for one in self._hidden:
            if real == one or real.startswith(f"{one}/") or one.startswith(real.rstrip("/") + "/"):
                raise CannotRun(f"{what} {path} would show the home of weft")
        if not os.path.exists(real):  # noqa: PTH110 (text)
            raise CannotRun(f"{what} {path} does not exist on the worker")
        return real

    def _words(self, image: Image, attempt: ToStart) -> tuple[str, ...]:
        """Return the command that makes the container, without what is the attempt's own."""
        container = attempt.spec.container
        assert container is not None
        words = [_bwrap(), *_APART]
        has_network = attempt.spec.network is True
        if has_network and not self._settings.container_network:
            raise CannotRun("its worker gives containers no network (container_network)")
        if not has_network:
            words.append("--unshare-net")
        numbers = numbers_of(image.root, container.user or image.user or "0")
        if numbers is None:
            raise CannotRun(f"the image has no user {container.user or image.user}")
        words += ["--uid", str(numbers[0]), "--gid", str(numbers[1])]
        shared = [path for path in _OF_NETWORK if has_network and os.path.exists(path)]  # noqa: PTH110
        targets = [mount.target.rstrip("/") for mount in container.mounts]
        words += root_words(image.root, [*targets, *shared])
        for path in shared:
            words += ["--ro-bind", os.path.realpath(path), path]
        # Directories before what is mounted below them.
        mounts = sorted(zip(container.mounts, targets, strict=True), key=itemgetter(1))
        for mount, target in mounts:
            real = self._check_path(mount.source, "the mount")
            words += ["--bind" if mount.write else "--ro-bind", real, target]
        if attempt.gpu:
            for device in (*sorted(map(str, Path("/dev").glob("nvidia*"))), *_OF_GPUS):
                words += ["--dev-bind-try", device, device]
        if image.lock:
            words += ["--ro-bind", image.lock, _IMAGE_AT, "--lock-file", _IMAGE_AT]
        return tuple(words)

    @staticmethod
    def _check_program(image: Image, spec: JobSpec, name: str, path: str) -> None:
        """Raise `CannotRun` if there is no such program, unless a mount may bring it."""
        assert spec.container is not None
        is_relative = "/" in name and not name.startswith("/")
        if is_relative or spec.container.mounts or has_program(image.root, name, path):
            return
        raise CannotRun(f"the image has no program {name}", reason=Reason.NO_PROGRAM)


def why_no_containers() -> str:
    """Return why this host cannot run containers as this user; empty: it can."""
    if 0 in os.getresuid():
        return "the worker is root, who may change the kernel's settings from any container"
    for program in _PROGRAMS:
        if shutil.which(program) is None:
            return f"the program `{program}` is missing"
    probe = [_bwrap(), *_APART, "--unshare-net", "--ro-bind", "/", "/", "--dev", "/dev"]
    try:
        done = subprocess.run(
            [*probe, "--proc", "/proc", "--", "/bin/sh", "-c", "exit 0"],
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=10,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return "`bwrap` does not end"
    said = done.stderr.strip()[:_SAID_MAX]
    return f"`bwrap` says: {said}" if done.returncode else ""


@lru_cache(maxsize=1)
def _bwrap() -> str:
    return shutil.which("bwrap") or "bwrap"
