"""The files that the jobs of a document will need, each once, and who needs them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from weft.client.http.calls import Document
from weft.client.submission.spool import size_of
from weft.core.files.file_paths import WrongPath, in_store, split_store
from weft.core.problems import pointer_of
from weft.wire.documents.files import TRIED_MAX, FileInput, FileOutput, WantedFile
from weft.wire.spec import INDEX_VARIABLE, VALUE_VARIABLE, filled_files

if TYPE_CHECKING:
    from weft.client.http.api_routes import ApiRoutes

FILES_MAX: Final = 10_000
"""Different files of a document that are looked at."""
STORES_MAX: Final = 100


@dataclass
class WantedFiles:
    """Files by what is wanted, with the field that named it first."""

    inputs: dict[WantedFile, str] = field(default_factory=dict)
    stores: dict[str, str] = field(default_factory=dict)
    n_left_out: int = 0
    """Beyond what is looked at."""

    def pages(self) -> Iterator[tuple[list[WantedFile], list[str]]]:
        """Yield what one request asks for."""
        inputs = list(self.inputs)
        for at in range(0, max(1, len(inputs)), TRIED_MAX):
            yield inputs[at : at + TRIED_MAX], [] if at else list(self.stores)

    def _add_input(self, one: FileInput, pointer: str) -> None:
        wanted = WantedFile(one.from_, one.optional, one.checksum)
        if wanted in self.inputs:
            return
        if len(self.inputs) >= FILES_MAX:
            self.n_left_out += 1
            return
        self.inputs[wanted] = pointer

    def _add_output(self, output: FileOutput, pointer: str) -> None:
        if not in_store(output.to) or output.to is None:
            return
        try:
            store, _ = split_store(output.to)
        except WrongPath:
            return  # told when it is submitted
        if store not in self.stores and len(self.stores) >= STORES_MAX:
            self.n_left_out += 1
        else:
            self.stores.setdefault(store, pointer)

    def add_job(self, index: int, job: Mapping[str, Any]) -> None:
        """Add the files of a job or an array. Raise `msgspec.ValidationError`."""
        inputs = msgspec.convert(job.get("inputs") or (), tuple[FileInput, ...])
        outputs = msgspec.convert(job.get("outputs") or (), tuple[FileOutput, ...])
        for own in _variables(job):
            for n, one in enumerate((own and filled_files(inputs, own)) or inputs):
                self._add_input(one, pointer_of("jobs", index, "inputs", n, "from"))
        for n, output in enumerate(outputs):
            self._add_output(output, pointer_of("jobs", index, "outputs", n, "to"))


def _variables(job: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield what is replaced in addresses of files, of each job of an array."""
    size = size_of(job)
    if size is None:
        yield {}
        return
    first, values = job.get("index_from") or 0, job.get("values")
    for n in range(min(size, FILES_MAX + 1)):
        own = {INDEX_VARIABLE: f"{first + n}"}
        yield own if values is None else {**own, VALUE_VARIABLE: values[n]}


async def look_for_files(api: "ApiRoutes", document: Document) -> Document:
    """Ask the server about the files of a document. Raise `msgspec.ValidationError`."""
    files, seen = _wanted_files(document.get("jobs")), []
    for inputs, stores in files.pages():
        given = [msgspec.to_builtins(one) for one in inputs]
        answer = await api.try_files(given, stores)
        seen += [
            *(
                (files.inputs[one], one.from_, found)
                for one, found in zip(inputs, answer["inputs"], strict=True)
            ),
            *(
                (files.stores[name], f"store://{name}/", found)
                for name, found in zip(stores, answer["stores"], strict=True)
            ),
        ]
    n_looked_at = sum(found["is_looked_at"] for _, _, found in seen)
    return {
        "looked_at": n_looked_at,
        "not_looked_at": len(seen) - n_looked_at + files.n_left_out,
        "problems": [
            {"pointer": pointer, "file": name, "problem": found["problem"]}
            for pointer, name, found in seen
            if found["problem"] is not None
        ],
    }


def _wanted_files(jobs: Any) -> WantedFiles:  # noqa: ANN401 (jobs of a document)
    """Return the files of these jobs. Raise `msgspec.ValidationError`."""
    files = WantedFiles()
    for index, job in enumerate(jobs or ()):
        if job.get("inputs") or job.get("outputs"):
            files.add_job(index, job)
    return files
