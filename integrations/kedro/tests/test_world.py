"""Kedro as its users type it, on a real weft."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Weft

ROOT = Path(__file__).resolve().parents[3]
BIN = ROOT / ".tools/kedro/bin"
GUIDE = ROOT / "docs/guides/with-kedro.md"
pytestmark = [pytest.mark.world(name="kedro"), pytest.mark.timeout(600)]
FILES = {
    "pyproject.toml": """
[tool.kedro]
package_name = "app"
project_name = "app"
kedro_init_version = "1.7.0"
""",
    "conf/local/.gitkeep": "",
    "conf/base/parameters.yml": "by: 3\n",
    "conf/base/catalog.yml": """
told:
  type: app.texts.Text
  filepath: data/told.txt
""",
    "src/app/__init__.py": "",
    "src/app/settings.py": """
from app.hooks import Told
HOOKS = (Told(),)
""",
    "src/app/hooks.py": """
from kedro.framework.hooks import hook_impl
class Told:
    @hook_impl
    def after_node_run(self, node):
        print("hook of", node.name)
""",
    "src/app/texts.py": """
from pathlib import Path
from kedro.io import AbstractDataset
class Text(AbstractDataset):
    def __init__(self, filepath):
        self._filepath = Path(filepath)
    def load(self):
        return self._filepath.read_text()
    def save(self, data):
        self._filepath.parent.mkdir(exist_ok=True)
        self._filepath.write_text(data)
    def _describe(self):
        return {"filepath": str(self._filepath)}
""",
}


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "kedro"], check=True, cwd=ROOT)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a project with the pipeline of the guide."""
    program = GUIDE.read_text().split("```")[3].removeprefix("python\n")
    for name, text in {**FILES, "src/app/pipeline_registry.py": program}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run(
    weft: Weft, project: Path, *words: str, more: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run the last of the three lines of the guide."""
    line = shlex.split(GUIDE.read_text().split("```")[1].splitlines()[-1])
    quiet = {"DO_NOT_TRACK": "1", "KEDRO_DISABLE_TELEMETRY": "1", "COLUMNS": "500"}
    return subprocess.run(
        [BIN / line[0], *line[1:], *words],
        check=False,
        capture_output=True,
        text=True,
        cwd=project,
        env=weft.environment({**quiet, **(more or {})}),
        timeout=300,
    )


def test_nodes_are_jobs_and_memory_goes_on(weft: Weft, project: Path) -> None:
    done = run(weft, project, "--runner-params=max_workers=2")

    assert done.returncode == 0, done.stdout + done.stderr
    assert (project / "data/told.txt").read_text() == "thirds: [3, 6], [9, 12]"
    batch = json.loads(weft.run("status", "b1", "--json").stdout)
    assert (batch["name"], batch["n_succeeded"]) == ("kedro app", 4)
    assert "hook of numbers" in weft.run("logs", "b1.j1").stdout.decode()
    assert "hook of" not in done.stdout


def test_a_node_that_fails_names_its_job(weft: Weft, project: Path) -> None:
    done = run(weft, project, "--params", "by=none")
    text = done.stdout + done.stderr
    told = re.search(r"weft job (b\d+\.j\d+) of node 'left' failed: ValueError", text)

    assert done.returncode == 1
    assert told is not None, text
    assert f"weft logs {told[1]}" in text
    assert b"by: none" in weft.run("logs", told[1]).stdout
    assert "nodes that have not run" in text


def test_what_cannot_be_sent_names_its_node(weft: Weft, project: Path) -> None:
    registry = project / "src/app/pipeline_registry.py"
    registry.write_text(registry.read_text().replace("[1, 2], [3", "open('/dev/null'), [3"))
    done = run(weft, project)

    assert done.returncode == 1
    assert "of node 'numbers' failed" in done.stdout + done.stderr
    assert "pickle" in done.stdout + done.stderr


def test_a_dataset_that_nobody_saved_is_said(weft: Weft, project: Path) -> None:
    (project / "conf/base/catalog.yml").write_text("begun:\n  type: MemoryDataset\n")
    registry = project / "src/app/pipeline_registry.py"
    registry.write_text(
        registry.read_text().replace('["first", "params:by"]', '["begun", "params:by"]')
    )
    done = run(weft, project)

    assert done.returncode == 1
    assert "has not been saved yet" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"WEFT_TOKEN": "wrong"}, "token is unknown"),
        ({"WEFT_URL": "http://127.0.0.1:9"}, "cannot reach"),
    ],
)
def test_a_server_that_refuses_is_said(
    weft: Weft, project: Path, change: dict[str, str], words: str
) -> None:
    done = run(weft, project, more=change)

    assert done.returncode == 1
    assert words in done.stdout + done.stderr
