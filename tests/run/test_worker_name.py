"""The names of a worker's files."""

from weft.run.host.worker_name import file_name_of
from weft.settings import load_settings


def file_name(name: str) -> str:
    return file_name_of(load_settings({"worker_name": name}))


def test_usual_names_are_kept() -> None:
    assert file_name("gpu-7.example_1") == "gpu-7.example_1"


def test_workers_of_different_names_have_different_files() -> None:
    """Otherwise one would adopt the spawner and the jobs of the other."""
    names = ("a b", "a/b", "a_b", "a:b")

    assert len({file_name(name) for name in names}) == len(names)
    assert not any(set("/: ") & set(file_name(name)) for name in names)
