"""Every key in Hail's contract is mapped, kept or refused, and the guide says which."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.hail_door import job
from cases import cases
from weft.settings import Settings
from weft_hail.jobs_from_hail import Bunch, jobs_of
from weft_hail.plain_jobs import plain_job
from weft_hail.requests import Refused
from weft_hail.settings import HailSettings
from weft_hail.shapes import BATCH, GROUP, RESOURCES, UPDATE

CONTRACT = {
    "a batch": {
        "billing_project",
        "n_jobs",
        "n_job_groups",
        "token",
        "attributes",
        "callback",
        "cancel_after_n_failures",
    },
    "an update": {"token", "n_jobs", "n_job_groups"},
    "a job group": {
        "job_group_id",
        "in_update_parent_id",
        "absolute_parent_id",
        "attributes",
        "callback",
        "cancel_after_n_failures",
    },
    "a job": {
        "job_id",
        "process",
        "in_update_parent_ids",
        "absolute_parent_ids",
        "in_update_job_group_id",
        "absolute_job_group_id",
        "always_run",
        "n_max_attempts",
        "env",
        "attributes",
        "resources",
        "timeout",
        "port",
        "regions",
        "user_code",
        "always_copy_output",
        "input_files",
        "output_files",
        "cloudfuse",
        "gcsfuse",
        "requester_pays_project",
        "mount_tokens",
        "network",
        "secrets",
        "service_account",
        "unconfined",
        "parent_ids",
        "command",
        "image",
        "pvc_size",
    },
    "the resources of a job": {"cpu", "memory", "storage", "machine_type", "preemptible"},
    "the process of a job": {
        "type",
        "image",
        "command",
        "mount_docker_socket",
        "jar_spec",
        "profile",
    },
}
"""The keys of each document in the contract of Hail 0.2.139, old forms included."""
SHAPES = {
    "a batch": BATCH,
    "an update": UPDATE,
    "a job group": GROUP,
    "the resources of a job": RESOURCES,
}
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "coming-from-hail.md"
BUCKETS = [{"bucket": "b", "mount_path": "/b", "read_only": True}]
ASKED: dict[str, Any] = {
    "cloudfuse": BUCKETS,
    "gcsfuse": BUCKETS,
    "mount_tokens": True,
    "secrets": [{"namespace": "n", "name": "s", "mount_path": "/s"}],
    "service_account": {"namespace": "n", "name": "a"},
    "unconfined": True,
}


def fates(kind: str) -> dict[str, str]:
    """Return what the guide says of each key."""
    _, _, rest = GUIDE.read_text(encoding="utf-8").partition(f"\n### Keys of {kind}\n")
    table = rest.partition("\n#")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (mapped|kept|refused) \|", table, re.MULTILINE))


@cases("kind", CONTRACT)
def test_guide_says_what_becomes_of_each_key(kind: str) -> None:
    assert fates(kind).keys() == CONTRACT[kind]


@cases("kind", SHAPES)
def test_each_key_of_the_contract_is_known_and_no_other(kind: str) -> None:
    said = {}
    for key in (*CONTRACT[kind], "odd"):
        with pytest.raises(Refused) as error:
            SHAPES[kind]("it", {key: object()})
        said[key] = error.value.text.startswith("unknown keys")

    assert said == {**dict.fromkeys(CONTRACT[kind], False), "odd": True}


@cases("key", [key for key, fate in fates("a job").items() if fate == "refused"])
def test_what_asks_for_a_cloud_is_refused(key: str, tmp_path: Path) -> None:
    bunch = Bunch(settings=Settings(home=tmp_path), batch_id=1)
    with pytest.raises(Refused) as error:
        jobs_of([msgspec.json.encode(job(1, "true", **{key: ASKED[key]}))], bunch)

    assert error.value.status == 400


@cases(
    ("words", "env", "paths"),
    [
        (("/bin/bash", "-c", "mkdir -p /io/batch/1"), {}, ("/io",)),
        (("ls", "/io"), {}, ("/io",)),
        (("true",), {"BATCH_TMPDIR": "/io/batch/1"}, ("/io",)),
        (("ls", "/data/io/x", "/iota", "a/io"), {"X": "s3://b/io"}, None),
    ],
)
def test_jobs_that_name_io_get_it(
    words: tuple[str, ...], env: dict[str, str], paths: tuple[str, ...] | None, tmp_path: Path
) -> None:
    bunch = Bunch(settings=Settings(home=tmp_path), batch_id=1)
    given = job(1, *words, env=[{"name": name, "value": value} for name, value in env.items()])
    _, (found,) = jobs_of([msgspec.json.encode(given)], bunch)

    assert found.own_paths == paths


@cases(
    "more",
    [
        {"job_id": True},
        {"job_id": 2**40},
        {"timeout": 0},
        {"timeout": 10**9},
        {"n_max_attempts": 0},
        {"resources": {"cpu": "1\n"}},
        {"resources": {"memory": "much"}},
        {"resources": {"machine_type": "n1"}},
        {"env": [{"name": "a"}]},
        {"odd": 1},
        {"attributes": {"a": 1}},
        {"attributes": None},
        {"resources": {"cpu": 1}},
        {"resources": {"cpu": "\u0661"}},
        {"regions": []},
        {"unconfined": True},
        {"process": {"type": "jvm", "command": [], "jar_spec": {}}},
        {"always_run": 1},
    ],
)
def test_what_is_refused_is_not_plain(more: dict[str, Any], tmp_path: Path) -> None:
    raw = msgspec.json.encode(job(1, "true", **more))
    with pytest.raises(Refused):
        jobs_of([raw], Bunch(settings=Settings(home=tmp_path), batch_id=1))

    assert plain_job(raw) is None
    assert plain_job(msgspec.json.encode(job(1, "true"))) is not None


@cases(
    "more",
    [
        {},
        {"timeout": 5, "n_max_attempts": 3, "always_run": True},
        {"in_update_parent_ids": [1], "absolute_parent_ids": [3], "in_update_job_group_id": 1},
        {"attributes": {"name": "n"}, "env": [{"name": "A", "value": "/io"}], "port": 5000},
        {"absolute_job_group_id": 2, "in_update_job_group_id": 1, "user_code": "x"},
        {"resources": {"cpu": "0.5", "memory": "lowmem", "storage": "1Gi", "preemptible": False}},
        {"input_files": [{"from": "a", "to": "/io/b"}], "always_copy_output": True},
        {"output_files": [{"from": "/io/a", "to": "b"}], "always_copy_output": True},
    ],
)
def test_checking_key_by_key_makes_the_same_job(more: dict[str, Any], tmp_path: Path) -> None:
    bunch = Bunch(settings=Settings(home=tmp_path), batch_id=1, first_job=5, first_group=2)
    plain, rare = (
        msgspec.json.encode(job(2, "ls", "x", **more, **other))
        for other in ({}, {"network": "public"})
    )
    (_, (fast,)), (_, (slow,)) = jobs_of([plain], bunch), jobs_of([rare], bunch)
    fast.original = slow.original = None

    assert (plain_job(plain) is None, plain_job(rare)) == (False, None)
    assert fast == slow


def test_image_is_run_if_the_operator_says_so(tmp_path: Path) -> None:
    sections = (HailSettings(hail_images=True),)
    bunch = Bunch(settings=Settings(home=tmp_path, plugin_sections=sections), batch_id=1)
    label = Bunch(settings=Settings(home=tmp_path), batch_id=1)
    raws = [msgspec.json.encode(job(number, "ls", "/io")) for number in (1, 2, 3)]
    _, jobs = jobs_of(raws, bunch)
    wrong = job(1, process={"type": "docker", "image": "a b\n--x", "command": ["x"]})
    with pytest.raises(Refused, match="invalid image 'a b"):
        jobs_of([msgspec.json.encode(wrong)], bunch)

    assert [one.container and one.container.image for one in jobs] == ["docker://ubuntu:24.04"] * 3
    assert [(one.network, one.own_paths) for one in jobs] == [(True, ("/io",))] * 3
    assert jobs_of(raws, label)[1][0].container is None
