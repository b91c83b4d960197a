"""`weft doctor` on a home that is not ours."""

import os
from pathlib import Path
from typing import Any, Literal

import pytest

from weft.run.doctor import examine, words_of_missing
from weft.run.home import Home, HomeNotUsable
from weft.settings import Settings
from weft_kubernetes.settings import KubernetesSettings
from weft_openstack.settings import OpenStackSettings
from weft_ssh.settings import SshSettings


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_home_of_another_user_is_a_finding(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    home.write_secrets({"admin": "postgresql://x"})
    examine(Settings(home=home.path))  # so that nothing has to be imported later
    home.path.chmod(0o711)
    for above in tmp_path.parents[:2]:
        above.chmod(0o711)
    tmp_path.chmod(0o711)
    os.seteuid(1)
    try:
        findings = examine(Settings(home=home.path))
        with pytest.raises(HomeNotUsable, match="cannot use"):
            home.secrets()
    finally:
        os.seteuid(0)

    wrong = [one for one in findings if one.check == "home"]
    assert [one.verdict for one in wrong] == ["wrong"]
    assert "belongs to user 0" in wrong[0].found
    assert wrong[0].advice


@pytest.mark.parametrize(
    ("sandbox", "user", "verdict", "why", "way_out"),
    [
        ("none", 1000, "off", "the program `bwrap` is missing", "docs/security.md"),
        ("bubblewrap", 1000, "wrong", "the program `bwrap` is missing", "Install bubblewrap"),
        ("bubblewrap", 0, "wrong", "the worker is root", "Run the worker as a plain user"),
    ],
)
def test_a_machine_that_makes_no_sandboxes_is_a_finding_if_jobs_must_have_them(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    sandbox: Literal["none", "bubblewrap"],
    user: int,
    verdict: str,
    why: str,
    way_out: str,
) -> None:
    monkeypatch.setattr(os, "getresuid", lambda: (user, user, user))
    monkeypatch.setenv("PATH", str(tmp_path))
    findings = examine(Settings(home=tmp_path, sandbox=sandbox))
    (found,) = [one for one in findings if one.check == "sandbox"]

    assert found.verdict == verdict
    assert why in found.found
    assert way_out in found.advice


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "end as errors: the program `bwrap` is missing"),
        ({"run_as": "user"}, "end as errors: they run under the accounts of their users"),
    ],
)
def test_a_machine_says_what_becomes_of_jobs_that_forbid_the_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: dict[str, Any], told: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    findings = examine(Settings(home=tmp_path, **settings))
    (found,) = [one for one in findings if one.check == "network"]

    assert found.verdict == "off"
    assert told in found.found


def test_a_database_that_is_away_is_not_looked_for_in_a_circle(tmp_path: Path) -> None:
    dsn = "postgresql://me@127.0.0.1:1/weft"
    Home(tmp_path).write_secrets({"database": dsn, "weft_driver": dsn})
    found = examine(Settings(home=tmp_path, database=dsn, pooler="127.0.0.1:1"))
    told = {one.check: one.advice for one in found}

    assert told["database"] == "Read the logs of the server, in `log/` of its home."


def test_missing_parts_of_the_schema_are_named_in_words() -> None:
    assert [words_of_missing(count) for count in range(3)] == [
        "but its functions are those of another release",
        "but 1 migration is not applied",
        "but 2 migrations are not applied",
    ]


NO_CLOUD = """
clouds:
  site:
    auth: {auth_url: "http://127.0.0.1:1", username: ann, password: swordfish, project_name: p,
      user_domain_id: d, project_domain_id: d}
"""


@pytest.mark.parametrize(
    ("clouds", "words"),
    [
        ("clouds: {other: {}}", "the credential for the cloud is not complete"),
        (NO_CLOUD, "the cloud cannot be reached"),
    ],
)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_cloud_that_does_not_answer_is_a_finding(
    clouds: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "clouds.yaml"
    file.write_text(clouds)
    section = OpenStackSettings(
        openstack_connect="https://a.example", openstack_clouds_file=file, openstack_cloud="site"
    )
    settings = Settings(home=tmp_path, plugin_sections=(section,))
    (found,) = (one for one in examine(settings) if one.check == "openstack")

    assert found.verdict == "wrong"
    assert found.found.startswith(words)
    assert "swordfish" not in found.found


def test_engines_that_cannot_be_asked_are_findings(tmp_path: Path) -> None:
    away, none = "https://a.example", tmp_path / "none"
    cluster = KubernetesSettings(kubernetes_connect=away, kubernetes_config=none)
    hosts = SshSettings(ssh_connect=away, ssh_hosts_file=none)
    found = examine(Settings(home=tmp_path, plugin_sections=(cluster, hosts)))
    told = {one.check: one.found for one in found if one.verdict == "wrong"}

    assert told["kubernetes"].startswith("not a kubeconfig that a gateway can use: ")
    assert told["hosts"] == f"ssh_hosts_file {none}: No such file or directory"
