"""What others have written is read by `weft.core.bounded`, which bounds its depth; what a user
pickled is read where its owner's code runs anyway, and nowhere else.
"""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch

from tidy.source_files import nodes_of, product_files, relative

TRUSTED = {
    "packages/pages/src/weft_pages/jobs.py": "a stored document",
    "src/weft/api/use_cases/schedules.py": "a stored document",
    "src/weft/api/web_tokens/verify.py": "its decoder is called within `bounded`",
    "src/weft/bench/*": "what a bench has written",
    "src/weft/callbacks.py": "a signed body of weft",
    "src/weft/cli/commands/submit.py": "what `parse_document` has read",
    "src/weft/cli/completion/cursor.py": "a file of this package",
    "src/weft/cli/input/mistake_lines.py": "nodes, which are only followed along a pointer",
    "src/weft/cli/input/usual_lines.py": "a file of this package",
    "src/weft/client/objects/counted.py": "events of a closed type",
    "src/weft/client/objects/job.py": "events of a closed type",
    "src/weft/client/submission/spool.py": "what this module has written",
    "src/weft/core/bounded.py": "it bounds them",
    "src/weft/core/errors/installation.py": "a file that the installer keeps",
    "packages/aloe/src/weft_aloe/notices.py": "a body that weft has made",
    "packages/hail/src/weft_hail/jobs_from_hail.py": "parts of a body that was read",
    "packages/hail/src/weft_hail/documents_to_hail.py": "stored documents",
    "packages/hail/src/weft_hail/plain_jobs.py": "parts of a body that was read",
    "src/weft/driver/callback_forms.py": "bodies that weft has made",
    "src/weft/driver/loops/deliveries.py": "bodies that weft has made",
    "src/weft/plugins/executors/container/images.py": "a file of a closed type, which weft keeps",
    "src/weft/plugins/executors/process/minder.py": "an argument of its parent",
    "src/weft/plugins/log_stores/s3/*": "heads of packs, of a closed type, which weft writes",
    "packages/ssh/src/weft_ssh/provider/host_program.py": "what weft asks, on a bare host",
    "src/weft/plugins/runners/remote/handles.py": "a file of a closed type, which weft keeps",
    "src/weft/plugins/runners/spawner/*": "messages of the own spawner",
    "src/weft/run/isolated/*": "what the driver asks, and answers of a closed type",
    "src/weft/run/detach.py": "what the parent or the child says",
    "src/weft/run/home.py": "files that weft keeps",
    "src/weft/run/login.py": "what the own api answers",
    "src/weft/store/database.py": "what the own SQL raises",
    "src/weft/wire/function.py": "a head of a closed type",
    "src/weft/wire/spec.py": "stored specs of a closed type",
    "src/weft/worker/spawner/*": "messages of the own agent, and of a closed type",
    "src/weft/worker/stager/*": "files of a closed type, which weft keeps",
    "src/weft/worker/warm/*": "calls of a closed type, in a process of their batch",
}
"""Files whose texts are weft's own or were bounded where they came in, and why."""
_CALLS = {
    "json.loads",
    "json.load",
    "json.JSONDecoder",
    "tomllib.loads",
    "tomllib.load",
    "yaml.load",
    "yaml.safe_load",
    "yaml.compose",
    "msgspec.json.decode",
    "msgspec.json.Decoder",
    "msgspec.msgpack.decode",
    "msgspec.msgpack.Decoder",
    "msgspec.toml.decode",
    "msgspec.yaml.decode",
}
_WORDS = {name.rpartition(".")[2] for name in _CALLS}


def readers() -> Iterator[tuple[str, str]]:
    """Yield each file and the parser that it names outside a call of `bounded`."""
    for path in product_files().values():
        if not any(word in path.read_text() for word in _WORDS):
            continue
        within = {
            id(node)
            for call in nodes_of(path, ast.Call)
            if isinstance(call.func, ast.Name) and call.func.id == "bounded"
            for node in ast.walk(call)
        }
        for node in nodes_of(path, ast.Attribute):
            is_named = node.attr in _WORDS and id(node) not in within
            if is_named and (name := ast.unparse(node)) in _CALLS:
                yield relative(path), name
        for imported in nodes_of(path, ast.ImportFrom):
            for alias in imported.names:
                if (name := f"{imported.module}.{alias.name}") in _CALLS:
                    yield relative(path), name


def test_only_trusted_texts_are_read_without_a_bound() -> None:
    found = {*readers()}

    assert not [one for one in found if not any(fnmatch(one[0], name) for name in TRUSTED)]
    assert not [name for name in TRUSTED if not any(fnmatch(one[0], name) for one in found)]


READERS = {
    "src/weft/run/isolated/process.py",  # writes questions
    "src/weft/run/isolated/limited_process.py",  # reads these, which a role has sent
    "packages/joblib/src/weft_joblib/backend.py",  # has joblib do it, with results of its own jobs
    "src/weft/client/functions/pickles.py",  # results of the client's own batch
    "src/weft/worker/warm/functions.py",  # functions, in a process of their batch
    "src/weft/worker/warm/outcome.py",  # arguments, likewise
}
_MODULES = {"pickle", "cloudpickle", "marshal", "shelve", "dill", "joblib"}


def test_nobody_else_unpickles() -> None:
    found = set()
    for path in product_files().values():
        names = {alias.name for node in nodes_of(path, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in nodes_of(path, ast.ImportFrom)}
        if _MODULES & {name.partition(".")[0] for name in names}:
            found.add(relative(path))

    assert found == READERS
