"""Secrets are found by their hash or compared in constant time, so that the time of a refusal
tells nothing. What looks like another comparison of one is listed, with why it is harmless.

Numbers of batches, tokens and the like follow one another: that they open nothing is shown by
`tests/api/test_visibility.py` (`test_stranger_gets_on_each_route_what_does_not_exist`).
"""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tidy.source_files import ROOT, nodes_of, product_files

WEFT = ROOT / "src/weft"
SECRET = re.compile(
    r"(?:^|_)(?:tokens?|secrets?|passwords?|cookies?|nonce|verifier|signatures?|csrf|session|mac"
    r"|hmac|(?:hex)?digests?|hash(?:es)?|bearer|authorization)$"
)
"""Names of variables and fields; those of types and constants begin with a capital."""
LOGIN_SECRET = re.compile(rf"{SECRET.pattern}|(?:^|_)(?:code|state|key|text)$")
"""Words that mean a secret where people log in, and something else elsewhere."""
LOGINS = (
    "api/use_cases/logins.py",
    "api/use_cases/sessions.py",
    "api/use_cases/tokens.py",
    "api/web_tokens/",
    "api/routes/v1/logins.py",
    "api/http/identity.py",
    "cli/login/",
    "core/access/sessions.py",
    "core/access/browser_logins.py",
    "core/login_attempts.py",
    "core/deliveries/callback_signature.py",
    "store/callers.py",
    "store/sessions.py",
    "store/tokens.py",
    "wire/signed.py",
    "wire/sealed.py",
)
LOOK_UPS = {"get", "pop", "setdefault", "startswith", "endswith", "index", "find", "remove"}
ELSEWHERE = {
    "client/functions/calls.py": "a program looks for its own functions by their digests",
    "core/query/parse.py": "words of the query language",
    "core/query/terms.py": "words of the query language",
    "core/queues/guard.py": "words of guards",
}

CONSTANT_TIME = {
    "api/use_cases/logins.py": "the state that a browser brings back from an issuer",
    "api/web_tokens/verify.py": "the nonce in an ID token",
    "cli/login/flows.py": "the state that a browser brings to `weft login`",
    "core/deliveries/callback_signature.py": "signatures of callbacks",
    "core/access/sessions.py": "the token in forms and headers of pages (CSRF)",
    "wire/signed.py": "signatures of functions",
    "weft_link/serving/linked_hand_over.py": "the chunk that a worker outside has",
}
"""Which files compare with `compare_digest`, and what."""
HASHED = {
    ("admin.py", "ensure_local_user"),
    ("machines.py", "add_machine_token"),
    ("callers.py", "authenticate"),
    ("sessions.py", "create_login_code"),
    ("sessions.py", "open_issuer_session"),
    ("sessions.py", "open_session"),
    ("tenants.py", "create_tenant"),
    ("tokens.py", "create_token"),
    ("tokens.py", "create_invitation"),
    ("tokens.py", "accept_invitation"),
    ("trail.py", "login_owner"),
    ("users.py", "add_user"),
}
"""Functions of the database that find or keep a token, a session or a code of a login link; all
get its SHA-256.
"""
_IS_NAMED = "(document.secret is not None) != (document.credentials == 'secret')"
_LISTED = "{row['name'] for row in await services.store.list_secrets(caller)}"
BY_HASH = "a memory that is keyed by SHA-256"
NAME = "the name of a secret, which its owner lists"
BACKED_UP = "sums of files that lie beside them"
CONTENT = "the SHA-256 of what its owner has sent"
PUBLIC = "the kind of a public key, or what a server shows to all"
HARMLESS = {
    ("client/http/invitation.py", "hashlib.sha256(shown).hexdigest() != self.pin"): PUBLIC,
    ("api/http/identity.py", "self._known.get(digest)"): BY_HASH,
    ("api/http/identity.py", "self._known.pop(digest, None)"): BY_HASH,
    ("submission/payloads.py", "digest in missing"): CONTENT,
    ("api/web_tokens/bearers.py", "token.count('.') == PARTS - 1"): "the form of a token",
    ("api/web_tokens/key_sets.py", "ALGORITHMS_OF[type(known.key)]"): PUBLIC,
    ("api/web_tokens/key_sets.py", "algorithm in ALGORITHMS_OF[type(known.key)]"): PUBLIC,
    ("api/web_tokens/key_sets.py", "key.curve_name not in _CURVES"): PUBLIC,
    ("api/web_tokens/verify.py", "digest in self._known"): BY_HASH,
    ("wire/sealed.py", "len(key) != _KEY_BYTES"): "the length of a key, in its file",
    ("weft_apps/calls.py", "found.digest() != digest"): CONTENT,
    (
        "store/embedded/base_backup.py",
        "sha256(begin).hexdigest() != manifest['Manifest-Checksum']",
    ): BACKED_UP,
    (
        "store/embedded/base_backup.py",
        "file_digest(content, 'sha256').hexdigest() != file['Checksum']",
    ): BACKED_UP,
    ("plugins/log_stores/files/spool.py", "_digest_of(fd) != found.digest"): CONTENT,
    ("weft_link/serving/left_files.py", "_digest_of(fd) != file.digest"): CONTENT,
    (
        "plugins/log_stores/files/spool.py",
        "os.pread(fd, _HEAD.size, 0) != _HEAD.pack(found.digest, found.n_bytes)",
    ): CONTENT,
    ("worker/agent/checkpoints.py", "digest.digest() != found.digest"): CONTENT,
    ("plugins/log_stores/files/spool.py", "len(found.digest) != _DIGEST_BYTES"): CONTENT,
    ("api/use_cases/file_stores.py", _IS_NAMED): NAME,
    ("api/use_cases/file_stores.py", f"document.secret not in {_LISTED}"): NAME,
    ("cli/commands/store.py", "(secret is not None) + env + instance_role != 1"): NAME,
    ("plugins/file_stores/s3/carrying.py", "found.digest() != file.digest"): CONTENT,
    ("worker/agent/parts.py", "content.hexdigest() != digest"): CONTENT,
    ("worker/agent/parts.py", "self._making.get((batch_id, digest), make)"): CONTENT,
    ("worker/agent/environments.py", "self._reading.get((key.batch_id, digest), read)"): CONTENT,
    ("plugins/file_stores/weft/__init__.py", "found.digest() != file.digest"): CONTENT,
    ("plugins/file_stores/weft/__init__.py", "target.name != file.digest.hex()"): CONTENT,
    ("plugins/file_stores/s3/parts.py", "found.digest() != self._file.digest"): CONTENT,
    ("plugins/file_stores/s3/parts.py", "known.tag == md5.hexdigest()"): CONTENT,
    ("worker/agent/job_inputs.py", "checksum != digest"): CONTENT,
    ("api/use_cases/file_stores.py", "digest != wanted"): CONTENT,
    ("api/use_cases/files.py", "digest.digest() != found.digest"): CONTENT,
    ("weft_lines/rules/sink.py", "name not in kind.secrets"): NAME,
    ("worker/stager/cache.py", "wanted.digest in {None, known[0][1]}"): CONTENT,
    ("worker/stager/cache.py", "wanted.digest not in {None, found.digest()}"): CONTENT,
    ("worker/stager/cached_files.py", "found.digest() == held.digest"): CONTENT,
    ("worker/stager/placing.py", "found.digest() != digest"): CONTENT,
}
"""By file and expression: why nobody learns a secret from its time."""


def names_in(node: ast.AST) -> Iterator[str]:
    """Yield the names of variables, attributes and items in an expression."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr
        elif isinstance(one, ast.Subscript | ast.Call):
            items = [one.slice] if isinstance(one, ast.Subscript) else one.args
            yield from (str(item.value) for item in items if isinstance(item, ast.Constant))


def compared(node: ast.AST) -> list[ast.expr]:
    """Return what an expression compares or looks up in time that depends on it."""
    if isinstance(node, ast.Compare):
        if any(isinstance(one, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for one in node.ops):
            return [node.left, *node.comparators]
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        is_type = isinstance(node.value, ast.Name) and node.value.id == "Annotated"
        return [] if is_type or isinstance(node.slice, ast.Constant) else [node.slice]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        found = [one for one in node.args[:1] if not isinstance(one, ast.Constant)]
        return found if node.func.attr in LOOK_UPS else []
    return []


def comparisons(nodes: Iterable[ast.AST], words: re.Pattern[str]) -> Iterator[str]:
    """Yield the expressions that compare something with the name of a secret."""
    for node in nodes:
        if any(words.search(name) for part in compared(node) for name in names_in(part)):
            yield ast.unparse(node)


def sources() -> Iterator[tuple[str, Path]]:
    for file, path in sorted(product_files().items()):
        if not file.startswith(("bench/", "simulator/")) and file not in ELSEWHERE:
            yield file, path


def test_every_secret_is_compared_in_constant_time_or_found_by_its_hash() -> None:
    found = {
        (file, expression)
        for file, path in sources()
        for expression in comparisons(
            nodes_of(path, ast.Compare, ast.Subscript, ast.Call),
            LOGIN_SECRET if file.startswith(LOGINS) else SECRET,
        )
    }
    in_constant_time = {file for file, path in sources() if "compare_digest(" in path.read_text()}

    assert found - HARMLESS.keys() == set()
    assert HARMLESS.keys() - found == set()
    assert in_constant_time == CONSTANT_TIME.keys()


def hashes() -> Iterator[tuple[str, str, str]]:
    """Yield file, function of the database and value of each argument that is a hash."""
    for path in (WEFT / "store").glob("*.py"):
        for call in nodes_of(path, ast.Call):
            names = (str(one.value) for one in call.args if isinstance(one, ast.Constant))
            function = next(names, "")
            for word in call.keywords:
                if (word.arg or "").endswith("_hash"):
                    yield path.name, function, ast.unparse(word.value)
        yield from declared_hashes(path)


def declared_hashes(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the same of declared calls: `@calls(value, token=("token_hash", digest_of))`."""
    for method in nodes_of(path, ast.AsyncFunctionDef):
        for call in method.decorator_list:
            words = call.keywords if isinstance(call, ast.Call) else []
            for word in words:
                parts = word.value.elts if isinstance(word.value, ast.Tuple) else [word.value]
                if isinstance(parts[0], ast.Constant) and str(parts[0].value).endswith("_hash"):
                    made = f"{ast.unparse(parts[1])}(" if parts[1:] else str(word.arg)
                    yield path.name, method.name, made


def test_database_is_asked_by_hashes_only() -> None:
    """No column and no parameter holds the text of a secret, and each hash is one of ours."""
    given = list(hashes())
    ours = re.compile(r"digest_of\(|hashlib\.sha256\(|digest$")
    files = [path for file, path in product_files(".sql").items() if "sql/functions/" in file]
    sql = "".join(path.read_text() for path in files)
    schema = (ROOT / "tests/migrations/schema.snapshot.sql").read_text()
    secret = r"\b\w*(?:token|secret|csrf|session|cookie|password|nonce|verifier) (?:text|bytea)\b"

    assert {(file, function) for file, function, _ in given} == HASHED
    assert [one for one in given if not ours.match(one[-1])] == []
    assert re.findall(secret, sql) == re.findall(secret, schema) == []
    assert set(re.findall(r"\b\w*_hash ([a-z]\w*)", sql)) == {"bytea"}


def test_naive_comparison_is_found() -> None:
    for text, is_found in (
        ("given.csrf_token == token", True),
        ("header['cookie'] != wanted", True),
        ("hmac.new(a, b).hexdigest() == c", True),
        ("token in self._known", True),
        ("self._known[session]", True),
        ("self._known.get(password)", True),
        ("found['token']", False),
        ("hmac.compare_digest(token, given)", False),
        ("token is None", False),
        ("scheme == 'bearer'", False),
    ):
        assert bool(list(comparisons(ast.walk(ast.parse(text)), SECRET))) is is_found, text


def test_places_are_there() -> None:
    assert [one for one in (*LOGINS, *ELSEWHERE) if not (WEFT / one).exists()] == []
