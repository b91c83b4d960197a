"""Write the client's methods of calls that use cases declare into `src/weft/client/generated`;
with `--check`, only say if they are fresh.
"""

import ast
import builtins
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from itertools import pairwise
from pathlib import Path
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NewType,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from client_answers import AnswerTypes, answers_module, kind_of_answer
from weft.api.calls.call import Call
from weft.api.http.parameter_schemas import QUERY
from weft.api.routes.declared import all_calls
from weft.client import aio
from weft.client.generated.calls import Calls
from weft.client.http.calls import Listing
from weft.client.objects.builder import BuilderSource

FOLDER = Path(__file__).resolve().parents[1] / "src" / "weft" / "client" / "generated"
MADE = "Made by `tools/generate_client.py`; do not edit."
WIDTH = 99
INDENT = " " * 8
WRAP: Mapping[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
PLAIN = (str, int, float, bool)
IMPORTS = {
    "Any": "from typing import Any",
    "cast": "from typing import cast",
    "answers": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
    "    from weft.client.generated import answers",
    "datetime": "from datetime import datetime",
    "Mapping": "from collections.abc import Mapping",
    "Sequence": "from collections.abc import Sequence",
    "Answer": "from weft.client.answer import Answer",
    "Document": "from weft.client.http.calls import Document",
    "Listing": "from weft.client.http.calls import Listing",
    "DocumentCalls": "from weft.client.http.calls import DocumentCalls",
    "segment": "from weft.client.http.calls import segment",
    "without_none": "from weft.client.http.calls import without_none",
    "new_key": "from weft.client.http.session import new_key",
    "Twin": "from weft.client.loop_thread import Twin",
    "WaitingListing": "from weft.client.loop_thread import WaitingListing",
    "CallsT_co": "from weft.client.generated.calls import CallsT_co",
    "UNSET": "from msgspec import UNSET",
    "UnsetType": "from msgspec import UnsetType",
    "without_unset": "from weft.client.http.calls import without_unset",
    "group_segment": "from weft.client.http.calls import group_segment",
    "PAGE_ROWS": "from weft.client.http.calls import PAGE_ROWS",
}
"""What a module imports if it uses the name."""
BOUND = '\n\nCallsT_co = TypeVar("CallsT_co", bound=Calls, covariant=True)\n'
PUBLIC = "The declared calls of clients, which ask the server."
API = "The declared calls that `Api` alone has: clients have objects for what they answer."
WAITING = "The declared calls of clients, for programs that wait."
OBJECTS = "The declared calls of the client's objects, which know what they are about."
TWINS = "What the client's objects do, for programs that wait."
TWIN_CLASSES = (aio.Job, aio.Counted, aio.JobGroup, aio.Batch, aio.Client)
TWIN_IMPORTS = """from typing import TypeVar

from weft.client import aio
from weft.client.loop_thread import Twin, iterates, lists, waits

CountedT_co = TypeVar("CountedT_co", bound=aio.Counted, covariant=True)
"""
OBJECT_CALLS: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "JobCalls": (
        {"batch_id": "batch_id", "job_id": "job_id"},
        {
            "why": "why_job",
            "signal": "signal_job",
            "message": "message_job",
            "extend": "extend_job",
            "hold": "hold_job",
            "release": "release_job",
            "share": "share_job",
            "unshare": "unshare_job",
            "list_permissions": "list_job_permissions",
            "children": "list_children",
            "parents": "list_parents",
            "attempts": "list_attempts",
            "history": "job_history",
            "notes": "list_notes",
        },
    ),
    "BatchCalls": (
        {"batch_id": "_batch_id"},
        {
            "get_timeline": "get_timeline",
            "hold": "hold_batch",
            "release": "release_batch",
            "hide": "hide_batch",
            "unhide": "unhide_batch",
            "share": "share_batch",
            "unshare": "unshare_batch",
            "list_permissions": "list_permissions",
            "list_job_groups": "list_groups",
        },
    ),
    "GroupCalls": (
        {"batch_id": "_batch_id", "group": "_group_id"},
        {"hold": "hold_group", "release": "release_group"},
    ),
}
"""Of the classes of objects: which attributes are ids in paths, and calls by their methods."""
OBJECT_DEFAULTS = {"permission": '"read"'}
OWN = {"wait", "close", "submit"}
"""What the waiting classes do in another way: Ctrl-C asks, threads end, futures wait."""


class Parameter(NamedTuple):
    """One of a method."""

    name: str
    kind: str
    text: str
    default: str = ""
    """As an expression; empty: there is none."""

    @property
    def declared(self) -> str:
        """Return it as the signature has it."""
        return f"{self.name}: {self.kind}" + (f" = {self.default}" if self.default else "")


def main() -> int:
    """Write or check; the exit code is 1 if a module is not fresh."""
    wanted = modules(all_calls())
    present = {
        path.relative_to(FOLDER).as_posix(): path.read_text() for path in FOLDER.rglob("*.py")
    }
    if "--check" in sys.argv[1:]:
        if wanted != present:
            print("src/weft/client/generated is stale: run `make reference` and commit it.")
        return int(wanted != present)
    for name in present.keys() - wanted.keys():
        (FOLDER / name).unlink()
    for name, text in wanted.items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(text)
    return 0


def modules(calls: Sequence[Call]) -> Mapping[str, str]:
    """Return the text of each module by its path in the folder."""
    shown = sorted((one for one in calls if one.client_name), key=lambda one: one.client_name)
    public = [one for one in shown if one.is_public]
    of_api = [one for one in shown if not one.is_public]
    package = "The client's methods of calls that use cases declare."
    found = {
        "calls.py": _module(PUBLIC, "Calls(DocumentCalls)", map(_asking, public)) + BOUND,
        "api_calls.py": _module(API, "ApiCalls(DocumentCalls)", map(_asking, of_api)),
        "waiting.py": _module(WAITING, "Waits(Twin[CallsT_co])", map(_waiting, public)),
        "objects.py": _objects({one.client_name: one for one in of_api}),
        "twins.py": _twins(),
        "answers.py": answers_module((one.answer for one in calls if one.answer), MADE),
        "__init__.py": f'"""{package}\n\n{MADE} Must not import objects or submissions.\n"""\n',
    }
    return {name: _formatted(text) for name, text in found.items()}


def _module(sentence: str, head: str, methods: Iterable[str]) -> str:
    code = f'class {head}:\n    """{sentence}"""\n\n' + "\n\n".join(methods) + "\n"
    used = set(re.findall(r"\w+", re.sub(r'""".*?"""', "", code, flags=re.DOTALL)))
    imports = [line for name, line in IMPORTS.items() if name in used]
    imports += ["from typing import TypeVar"] if head.startswith("Calls") else []
    return f'"""{sentence}\n\n{MADE}\n"""\n\n' + "\n".join(imports) + f"\n\n\n{code}"


def _formatted(text: str) -> str:
    """Return it as `make fmt` leaves it."""
    mended = ["check", "--select", "I,PYI,F401", "--fix-only", "--quiet"]
    for command in (mended, ["format", "--quiet"]):
        name = str(FOLDER / "module.py")
        text = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", name, "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return text


def _objects(calls: Mapping[str, Call]) -> str:
    """Return the module of the classes that objects inherit."""
    classes = []
    for name, (attributes, methods) in OBJECT_CALLS.items():
        own = [one for one in attributes.values() if one[0] == "_"]
        head = [f"class {name}:", f'    """{OBJECTS}"""', "", "    _api: ApiCalls"]
        head += [f"    {one}: int" for one in own]
        for attribute in [one for one in attributes.values() if one not in own]:
            said = f'{INDENT}"""Return what the object knows."""'
            head += ["", "    @property", f"    def {attribute}(self) -> int:", said]
            head.append(f"{INDENT}raise NotImplementedError")
        made = [_of_object(calls[one], method, attributes) for method, one in methods.items()]
        classes.append("\n".join(head) + "\n\n" + "\n\n".join(made))
    code = "\n\n\n".join(classes) + "\n"
    used = set(re.findall(r"\w+", re.sub(r'""".*?"""', "", code, flags=re.DOTALL)))
    lines = [line for name, line in IMPORTS.items() if name in used]
    lines.append("from weft.client.generated.api_calls import ApiCalls")
    return f'"""{OBJECTS}\n\n{MADE}\n"""\n\n' + "\n".join(lines) + f"\n\n\n{code}"


def _of_object(call: Call, name: str, attributes: Mapping[str, str]) -> str:
    """Return the method of an object that makes a call about it."""
    pairs = [
        (one._replace(default=one.default or OBJECT_DEFAULTS.get(one.name, "")), is_placed)
        for one, is_placed in _parameters(call)
        if one.name not in attributes and one.name != "page_rows"
    ]
    words = [f"self.{one}" for one in attributes.values()]
    words += [one.name if is_placed else f"{one.name}={one.name}" for one, is_placed in pairs]
    asked = f"self._api.{call.client_name}({', '.join(words)})"
    start = "def" if call.cursor else "async def"
    answer = f"Listing[{kind_of_answer(call)}]" if call.cursor else _answer(call)
    body = f"return {'' if call.cursor else 'await '}{asked}"
    return _method(call, start, answer, body, name=name, pairs=pairs)


def _twins() -> str:
    """Return the module of the classes whose methods are made from asynchronous ones."""
    classes = []
    for cls in TWIN_CLASSES:
        bound = "CountedT_co" if cls is aio.Counted else f"aio.{cls.__name__}"
        head = f"class {cls.__name__}Waits(Twin[{bound}]):"
        doc = f'    """What `weft.aio.{cls.__name__}` does, for programs that wait."""'
        classes.append("\n".join([head, doc, "", *_twin_members(cls)]))
    return f'"""{TWINS}\n\n{MADE}\n"""\n\n{TWIN_IMPORTS}\n\n' + "\n\n\n".join(classes)


def _twin_members(cls: type) -> Iterator[str]:
    """Yield the members of a class that its twin has: those that it does not have from its
    bases, properties first.
    """
    bases = [base for base in (Calls, BuilderSource, aio.Counted) if base in cls.__mro__[1:]]
    hidden = OWN.union(*map(dir, bases))
    members = [(name, inspect.getattr_static(cls, name)) for name in dir(cls)]
    members = [one for one in members if one[0][0] != "_" and one[0] not in hidden]
    for name, member in members:
        if isinstance(member, property):
            kind = _kind(get_type_hints(member.fget)["return"])
            yield _twin_property(name, kind, inspect.getdoc(member))
    for name, kind, said in _attributes(cls):
        yield _twin_property(name, kind, said)
    for name, member in members:
        if inspect.isfunction(member) and (maker := _twin_maker(member)):
            yield f"    {name} = {maker}(aio.{cls.__name__}.{name})"


def _attributes(cls: type) -> Iterator[tuple[str, str, str]]:
    """Yield the attributes that a class declares: name, type, and what is said below it. Those of
    types that would be imported are written by hand: objects import these modules.
    """
    (source,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(source, ast.ClassDef)
    for one, after in pairwise(source.body):
        match one, after:
            case (
                ast.AnnAssign(target=ast.Name(name), value=None),
                ast.Expr(ast.Constant(str(said))),
            ) if name[0] != "_":
                kind = ast.unparse(one.annotation)
                if all(hasattr(builtins, word) for word in re.findall(r"\w+", kind)):
                    yield name, kind, said


def _twin_property(name: str, kind: str, said: str | None) -> str:
    body = f"{INDENT}return self._async.{name}"
    shown = textwrap.indent(f'"""{inspect.cleandoc(said or "")}', INDENT)
    shown += f'\n{INDENT}"""' if "\n" in shown else '"""'
    return f"    @property\n    def {name}(self) -> {kind}:\n{shown}\n{body}\n"


def _twin_maker(method: Callable[..., object]) -> str:
    """Return what makes the waiting method of this one; empty: it is written by hand, because it
    does not wait, or answers with an object.
    """
    answer = get_type_hints(method, localns={"answers": AnswerTypes()}).get("return")
    if get_origin(answer) is Listing:
        return "lists"
    if get_origin(answer) is AsyncGenerator:
        return "iterates"
    is_object = answer in TWIN_CLASSES
    return "waits" if inspect.iscoroutinefunction(method) and not is_object else ""


def _asking(call: Call) -> str:
    """Return the method that makes a request."""
    start = "def" if call.cursor else "async def"
    answer = f"Listing[{kind_of_answer(call)}]" if call.cursor else _answer(call)
    return _method(call, start, answer, _request(call))


def _waiting(call: Call) -> str:
    """Return the method that waits for the other."""
    words = [
        one.name if is_placed else f"{one.name}={one.name}" for one, is_placed in _parameters(call)
    ]
    asked = f"self._async.{call.client_name}({', '.join(words)})"
    if call.cursor:
        body = f"return WaitingListing(self._loop_thread, {asked})"
        return _method(call, "def", f"WaitingListing[{kind_of_answer(call)}]", body)
    returns = "" if call.is_silent else "return "
    return _method(call, "def", _answer(call), f"{returns}self._loop_thread.wait({asked})")


def _method(
    call: Call,
    start: str,
    answer: str,
    body: str,
    *,
    name: str = "",
    pairs: Sequence[tuple[Parameter, bool]] | None = None,
) -> str:
    words, pairs = ["self"], [*_parameters(call)] if pairs is None else pairs
    for one, is_placed in sorted(pairs, key=lambda pair: not pair[1]):
        if not is_placed and "*" not in words:
            words.append("*")
        words.append(one.declared)
    head = f"    {start} {name or call.client_name}({', '.join(words)}) -> {answer}:"
    return f"{head}\n{_docstring(call, pairs)}\n{INDENT}{body}"


def _answer(call: Call) -> str:
    if call.is_silent:
        return "None"
    return f"list[{kind_of_answer(call)}]" if _is_list(call) else kind_of_answer(call)


def _is_list(call: Call) -> bool:
    """Say whether the client's method returns the items of the answer."""
    fields = () if call.answer is None else call.answer.__struct_fields__
    return call.is_page or fields == ("items",)


def _docstring(call: Call, pairs: Sequence[tuple[Parameter, bool]]) -> str:
    said = inspect.getdoc(call.use_case) or ""
    lines = textwrap.wrap(" ".join(said.split()), WIDTH - 3 - len(INDENT), **WRAP)
    lines += ["", f"Use case: `{call.use_case.__module__}.{call.operation}`."]
    texts = [f"{one.name}: {one.text}" for one, _ in pairs]
    if texts:
        lines += ["", "Args:"]
    for text in texts:
        lines += textwrap.wrap(
            text, WIDTH - len(INDENT), initial_indent=" " * 4, subsequent_indent=INDENT, **WRAP
        )
    shown = "\n".join(f"{INDENT}{line}".rstrip() for line in lines)
    return f'{INDENT}"""{shown.strip()}\n{INDENT}"""'


def _request(call: Call) -> str:
    """Return the statement that makes the request."""
    arguments = [_path(call)]
    pairs = ", ".join(f'"{one.word}": {name}' for name, one in call.query.items())
    if call.cursor:
        return f"return self._list({arguments[0]}, {{{pairs}}}, page_rows=page_rows)"
    if call.body is not None and call.method != "DELETE":
        arguments.append(_document(call))
    if pairs:
        arguments.append(f"query={{{pairs}}}")
    if call.is_keyed:
        arguments.append("key=key or new_key()" if _has_key(call) else "key=new_key()")
    verb = "_items" if _is_list(call) else f"_{call.method.lower()}"
    if call.method == "DELETE" and call.is_silent:
        verb = "_remove"  # a repeat may find nothing
    asked = f"await self.{verb}({', '.join(arguments)})"
    if call.is_silent:
        return asked
    is_plain = _is_list(call) or call.answer is None
    return f"return {asked}" if is_plain else f"return cast({kind_of_answer(call)}, {asked})"


def _has_key(call: Call) -> bool:
    """Say whether the method takes the key of its request."""
    return call.is_keyed and not call.is_public


def _path(call: Call) -> str:
    path = call.path
    for parameter, one in call.ids.items():
        kind = _kind(call.parameters[parameter].annotation)
        shown = f"{{{parameter}}}"
        if one.name == "g":
            shown = f"{{group_segment({parameter})}}"
        elif kind == "str":
            named = re.match(r"The name (?:and version )?of an? ([^,.]*)", one.sentence)
            assert named, one.sentence
            shown = f'{{segment({parameter}, "{named[1]}")}}'
        path = path.replace(f"{{{one.name}}}", shown)
    return f'f"{path}"' if call.ids else f'"{path}"'


def _document(call: Call) -> str:
    if call.body is None or call.document is None:
        return "{}"
    if not call.is_spread:
        return call.document
    fields = _fields(call.body)
    pairs = ", ".join(f'"{encoded}": {one.name}' for encoded, one in fields.items())
    defaults = {one.default for one in fields.values()}
    for default, drop in (("UNSET", "without_unset"), ("None", "without_none")):
        if default in defaults:
            return f"{drop}({{{pairs}}})"
    return f"{{{pairs}}}"


def _parameters(call: Call) -> Iterator[tuple[Parameter, bool]]:
    """Yield the parameters of a method, and whether each is placed: the ids, and the first field
    that a document must have.
    """
    for name, one in call.ids.items():
        text = one.sentence.replace(", with each slash as %2F", "")
        yield Parameter(name, _kind(call.parameters[name].annotation), text), True
    if call.body is not None and call.document is not None:
        if not call.is_spread:
            yield Parameter(call.document, "Document", f"A `{call.body.__name__}`."), True
        fields = list(_fields(call.body).values()) if call.is_spread else []
        fields.sort(key=lambda one: one.default != "")
        for position, taken in enumerate(fields):
            yield taken, position < call.n_placed and not taken.default
    query = sorted(call.query.items(), key=lambda pair: not pair[1].is_placed)
    for name, asked in query:
        default = "" if asked.is_required else "False" if asked.kind is bool else "None"
        text = QUERY[asked.word][0]
        yield Parameter(name, _kind(asked.kind), text, default), asked.is_placed
    if call.cursor:
        yield (
            Parameter("page_rows", "int", "How many are asked for at a time.", "PAGE_ROWS"),
            False,
        )
    if _has_key(call):
        yield Parameter("key", "str | None", "Calls with the same one do it once.", "None"), False


def _fields(document: type[msgspec.Struct]) -> Mapping[str, Parameter]:
    """Return the fields of a document as parameters, by their names on the wire."""
    hints = get_type_hints(document, include_extras=True)
    found = {}
    for one in msgspec.structs.fields(document):
        hint = hints[one.name]
        text = _text(hint) or "As in the document."
        found[one.encode_name] = Parameter(one.name, _kind(hint), text, _default(one))
    return found


def _default(field: Any) -> str:  # noqa: ANN401 (msgspec does not export its type)
    if field.required:
        return ""
    if field.default is msgspec.UNSET:
        return "UNSET"
    return repr(field.default) if isinstance(field.default, PLAIN) else "None"


def _text(hint: object) -> str:
    """Return what is said of a field."""
    for one in reversed(get_args(hint) if get_origin(hint) is Annotated else ()):
        if isinstance(one, msgspec.Meta) and one.description:
            return one.description
    return ""


def _kind(hint: Any) -> str:  # noqa: ANN401 (any annotation)
    """Return the type of a parameter as callers know it: documents are mappings, words texts."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated or isinstance(hint, NewType):
        return _kind(parts[0] if parts else hint.__supertype__)
    if origin is Literal or (isinstance(hint, type) and issubclass(hint, Enum)):
        return "str"
    if NoneType in parts or msgspec.UnsetType in parts:
        empty = {msgspec.UnsetType: "UnsetType", NoneType: "None"}
        rest = [_kind(one) for one in parts if one not in empty]
        return " | ".join([*dict.fromkeys(rest), *(empty[one] for one in empty if one in parts)])
    if origin in {list, tuple, Sequence}:
        return f"Sequence[{_kind(parts[0])}]"
    if origin in {dict, Mapping}:
        return f"Mapping[str, {_kind(parts[1])}]"
    if hint is datetime:
        return "datetime | str"
    if parts:
        return " | ".join(dict.fromkeys(_kind(one) for one in parts))
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return "Document"
    return str(getattr(hint, "__name__", hint))


if __name__ == "__main__":
    sys.exit(main())
