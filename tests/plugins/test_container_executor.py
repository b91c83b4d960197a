"""What a container sees of its image and of the host, and what is refused."""

import os
from pathlib import Path

import pytest

from weft.core.errors import WeftError
from weft.core.states import AttemptKey, Reason
from weft.plugins.executors.container.executor import ContainerExecutor, NoContainers, root_words
from weft.plugins.executors.container.image import has_program, inside, numbers_of
from weft.plugins.executors.container.images import Images
from weft.plugins.executors.container.settings import ContainerSettings
from weft.ports.executor import CannotRun, ExecutorLimits, ExecutorSite, ToStart
from weft.wire.documents.containers import ContainerDocument, ContainerMount
from weft.wire.spec import JobSpec

KEY = AttemptKey(1, 1, 1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the root of an image, with symlinks that lead astray."""
    path = tmp_path / "images" / "one"
    for one in ("usr/bin", "etc", "mnt", "tmp", "weft"):
        (path / one).mkdir(parents=True)
    (path / "bin").symlink_to("usr/bin")
    (path / "usr/bin/tool").touch()
    (path / "usr/bin/away").symlink_to("../../../../../../etc/passwd")
    (path / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nnina:x:1234:55::/:/bin/sh\n")
    (path / "out").symlink_to("/")
    return path


def executor(tmp_path: Path) -> ContainerExecutor:
    """Return an executor that may use `images` and `data` there; its home is `data/home`."""
    for one in ("images", "data/home", "data/in"):
        (tmp_path / one).mkdir(parents=True, exist_ok=True)
    found = ContainerExecutor()
    settings = ContainerSettings(container_paths=f"{tmp_path}/images,{tmp_path}/data")
    found._settings = settings
    found._images = Images(tmp_path / "cache", settings)
    found._paths = (f"{tmp_path}/images", f"{tmp_path}/data")
    found._hidden = (f"{tmp_path}/data/home",)
    return found


def start(of: ContainerExecutor, spec: JobSpec) -> tuple[str, ...]:
    """Return the words that make a container."""
    assert of.prepared(KEY, spec, {})
    limits = ExecutorLimits(grace_ms=0, stream_bytes_max=1, stream_head_bytes=1)
    return of.start_of(ToStart(KEY, spec, limits, cpu_m=1000, memory_mib=64)).sandbox or ()


def test_symlinks_of_an_image_stay_within_it(root: Path) -> None:
    text = str(root)

    assert inside(text, "/bin/tool") == f"{root}/usr/bin/tool"
    assert inside(text, "/bin/away") == f"{root}/etc/passwd"
    assert inside(text, "/out/etc/passwd") == f"{root}/etc/passwd"
    assert inside(text, "/etc/shadow") is None
    assert has_program(text, "tool", "/sbin:/bin")
    assert not has_program(text, "sh", "/bin:/usr/bin")
    assert numbers_of(text, "nina") == (1234, 55)
    assert numbers_of(text, "1234") == (1234, 55)
    assert numbers_of(text, "7:8") == (7, 8)
    assert numbers_of(text, "who") is None


def test_places_for_mounts_are_made_beside_what_the_image_has(root: Path) -> None:
    words = root_words(str(root), ["/mnt/in", "/usr/bin", "/new"])
    shown = [words[n + 2] for n, word in enumerate(words) if word == "--ro-bind"]

    assert shown == ["/etc", "/usr"]  # that one has the place already
    assert words[words.index("--dir") + 1] == "/mnt"
    assert "/weft" not in words
    assert words[words.index("--symlink") : words.index("--symlink") + 3] == [
        "--symlink",
        "usr/bin",
        "/bin",
    ]
    for wrong in ("/", "/proc/x", "/dev", "/weft/work", "/bin/x", "/mnt/../etc"):
        with pytest.raises(WeftError):
            root_words(str(root), [wrong])


def test_nothing_outside_of_the_paths_and_nothing_of_weft_is_mounted(
    tmp_path: Path, root: Path
) -> None:
    of = executor(tmp_path)
    (tmp_path / "data" / "link").symlink_to("/etc")

    def spec(source: str, image: str = f"dir:{root}") -> JobSpec:
        mount = ContainerMount(source=source, target="/mnt/in")
        return JobSpec(("tool",), container=ContainerDocument(image=image, mounts=(mount,)))

    words = start(of, spec(f"{tmp_path}/data/in"))
    assert words[-3:] == ("--ro-bind", f"{tmp_path}/data/in", "/mnt/in")
    assert "--unshare-net" in words
    for wrong in (
        "/etc",
        f"{tmp_path}/data/link",
        f"{tmp_path}/data/home",
        f"{tmp_path}/data",
        f"{tmp_path}/data/in/../../cache",
        f"{tmp_path}/data/none",
    ):
        with pytest.raises(CannotRun) as error:
            start(of, spec(wrong))
        assert error.value.reason == Reason.BAD_SPEC
    for image in ("dir:/etc", f"dir:{tmp_path}/data/home", f"oci:{os.sep}etc:x"):
        with pytest.raises(CannotRun):
            of.prepared(KEY, spec(f"{tmp_path}/data/in", image), {})


def test_worker_that_cannot_run_containers_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoContainers) as error:
        ContainerExecutor().settle(ExecutorSite(home=tmp_path, section=lambda kind: kind()))

    assert "containers" in error.value.hint


def test_program_that_the_image_lacks_is_told_before_the_start(tmp_path: Path, root: Path) -> None:
    container = ContainerDocument(image=f"dir:{root}")
    with pytest.raises(CannotRun) as error:
        start(executor(tmp_path), JobSpec(("sh",), container=container))

    assert error.value.reason == Reason.NO_PROGRAM
    assert "--unshare-net" not in start(
        executor(tmp_path), JobSpec(("tool",), container=container, network=True)
    )
