"""Changed classes and old files: the table of docs/evolution.md, aliases, golden files."""

import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import evolving
import golden_files
import pytest
from processes import outputs_of

import isoform
from isoform import Object, declaration_digest, serialization, structural_equal, text
from isoform.dataclasses import field, py_class

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs" / "evolution.md"
GOLDEN = TESTS / "cases" / "golden"
FORMATS = ("JSON", "binary", "text", "pickle")


def table():
    """The rows of the page by the change."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index("| change | JSON | binary | text | pickle | digest | declaration digest |")
    rows = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        change, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
        rows[change] = cells
    return rows


def run(folder, code, *arguments):
    path = os.pathsep.join([str(folder), str(TESTS), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def row(written, found):
    """The cells that describe what happened; the binary form is right if it is read at all."""
    cells = [found[name][0] for name in FORMATS]
    if "error" in cells:
        assert cells == ["error"] * 4
        digest = "-"
    else:
        right = found["binary"][1]
        for position, name in enumerate(FORMATS):
            if found[name][1] != right:
                cells[position] = "misread"
        digest = "same" if right == written["digest"] else "changes"
    declaration = "same" if found["declaration"] == written["declaration"] else "changes"
    return [*cells, digest, declaration if found["declaration"] else "-"]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    old, new = tmp_path_factory.mktemp("old"), tmp_path_factory.mktemp("new")
    evolving.write_modules(old, 0)
    evolving.write_modules(new, 1)
    written = run(old, evolving.WRITE)
    found = run(new, evolving.READ, json.dumps(written))
    return dict(zip(evolving.CHANGES, zip(written, found, strict=True), strict=True))


def test_every_change_is_in_the_table():
    assert list(table()) == list(evolving.CHANGES)


@pytest.mark.parametrize("change", list(evolving.CHANGES))
def test_table(change, outcomes):
    assert row(*outcomes[change]) == table()[change], outcomes[change][1]


def test_messages_name_the_place(outcomes):
    found = outcomes["a member of an enum is removed"][1]
    assert "node" in found["JSON"][1]
    assert "byte" in found["binary"][1]
    assert "line 1" in found["text"][1]


def declared(body, options="", parent="Object"):
    """A class that is declared now."""
    names = {"Object": Object, "py_class": py_class, "field": field, "P": PARENT}
    exec(f"@py_class({options})\nclass C({parent}):\n    {body}", names)  # noqa: S102
    return names["C"]


@py_class("evolution.Parent")
class PARENT(Object):
    first: int = field(default=0, aliases=["one"])


@py_class("evolution.New", aliases=["evolution.Old", "evolution.Older"])
class New(PARENT):
    left: int = field(default=0, aliases=["lhs", "l"])
    right: object = field(default=None, aliases=["rhs"])


def test_every_alias_is_read():
    made = New(left=1, right=New(left=2, right=[3]))
    for key in ("evolution.Old", "evolution.Older"):
        for name in ("lhs", "l"):

            def older(written, key=key, name=name):
                written = written.replace("evolution.New", key).replace("right", "rhs")
                return re.sub(r"\bleft\b", name, written).replace("first", "one")

            graph = older(serialization.to_json_graph_str(made))
            assert structural_equal(serialization.from_json_graph_str(graph), made)
            written = older(text.to_text(made, defaults=True))
            assert structural_equal(text.from_text(written), made)
    # One file may have both names, of different objects.
    both = "[evolution.Old(lhs=1), evolution.New(left=1), evolution.Older(l=1, one=0)]"
    one, two, three = text.from_text(both)
    assert structural_equal(one, two)
    assert structural_equal(two, three)
    assert "evolution.Old" not in text.to_text(one)


def test_one_field_under_two_names_is_an_error():
    with pytest.raises(ValueError, match="'left' is given twice"):
        text.from_text("evolution.New(left=1, lhs=2)")
    graph = serialization.to_json_graph_str(New(1, 2, 3)).replace('"first"', '"lhs"')
    with pytest.raises(ValueError, match="'left' is given twice"):
        serialization.from_json_graph_str(graph)


def test_programs_know_the_name_alone():
    with pytest.raises(AttributeError):
        _ = New().lhs
    with pytest.raises(TypeError, match="lhs"):
        New(lhs=1)
    with pytest.raises(KeyError):
        isoform._core.type_info("evolution.Old")


@pytest.mark.parametrize(
    ("body", "options", "parent", "message"),
    [
        ('a: int; b: int = field(aliases=["a"])', "", "Object", "alias 'a' of field 'b' is a name"),
        ('a: int = field(aliases=["a"])', "", "Object", "alias 'a' of field 'a' is a name"),
        (
            'a: int = field(aliases=["c"]); b: int = field(aliases=["c"])',
            "",
            "Object",
            "alias 'c' of field 'a' is a name or an alias of field 'b'",
        ),
        ("one: int", "", "P", "alias 'one' of field 'first' is a name or an alias of field 'one'"),
        ('a: int = field(aliases=["first"])', "", "P", "alias 'first' of field 'a'"),
        ('a: int = field(aliases=[""])', "", "Object", "field 'a' has an empty alias"),
        ("a: int", 'aliases=["evolution.New"]', "Object", "is the key of another registered type"),
        ("a: int", 'aliases=["evolution.Old"]', "Object", "an alias of type evolution.New, too"),
        ("a: int", '"evolution.x", aliases=["evolution.x"]', "Object", "is the type's own key"),
        ("a: int", '"evolution.Old"', "Object", "is an alias of type evolution.New"),
        ("a: int", 'aliases=[""]', "Object", "an alias must not be empty"),
    ],
)
def test_clashes_are_refused(body, options, parent, message):
    options = options if options.startswith('"') else f'"evolution.Clash", {options}'
    with pytest.raises(ValueError, match=message):
        declared(body, options, parent)
    for key in ("evolution.Clash", "evolution.x", "evolution.Old"):
        with pytest.raises(KeyError):
            isoform._core.type_info(key)


@pytest.mark.parametrize("aliases", ["old", [1], [None]])
def test_aliases_are_names(aliases):
    with pytest.raises(TypeError, match="aliases: expected a sequence of names"):
        field(aliases=aliases)
    with pytest.raises(TypeError, match="aliases: expected a sequence of names"):
        py_class("evolution.Wrong", aliases=aliases)


def test_an_override_takes_the_aliases():
    declared("a: int", '"evolution.Replaced", aliases=["evolution.Former"]')
    with pytest.raises(ValueError, match="aliases"):
        declared("a: int", '"evolution.Replaced"')
    later = declared(
        "a: float", '"evolution.Replaced", aliases=["evolution.Former"], override=True'
    )
    assert type(text.from_text("evolution.Former(a=1)")) is later
    declared("a: float", '"evolution.Replaced", override=True')
    with pytest.raises(TypeError, match="unknown type"):
        text.from_text("evolution.Former(a=1)")


def test_unknown_fields_of_texts():
    read = "evolution.New(left=%b, gone=[%a: 7, %b: 8, evolution.New()], right=%a)"
    with pytest.raises(ValueError, match="has no field 'gone'"):
        text.from_text(read)
    made = text.from_text(read, ignore_unknown_fields=True)
    # The names that the skipped field defines are used.
    assert (made.left, made.right) == (8, 7)
    # All the rest is checked.
    with pytest.raises(ValueError, match="%c is not defined"):
        text.from_text("evolution.New(gone=%c)", ignore_unknown_fields=True)
    with pytest.raises(TypeError, match="unknown type"):
        text.from_text("evolution.New(gone=evolution.Gone())", ignore_unknown_fields=True)


@pytest.mark.parametrize("write", ["text", "json", "binary"])
def test_messages_name_the_remedy(write):
    name = f"evolution.{write}.Node"
    writers = {"text": text.to_text, "json": serialization.to_json_graph_str}
    readers = {"text": text.from_text, "json": serialization.from_json_graph_str}
    to = writers.get(write, serialization.to_bytes)
    read = readers.get(write, serialization.from_bytes)
    data = to(declared("a: int", f'"{name}"')(1))
    declared("a: int; b: int", f'"{name}", override=True')
    remedy = r"'b' \(if it is new: a default; if it was renamed: aliases; see docs/evolution.md\)"
    with pytest.raises(TypeError, match=f"missing field {remedy}"):
        read(data)
    declared("c: int = 0", f'"{name}", override=True')
    remedy = r"if it was renamed: aliases; if it was removed: ignore_unknown_fields; see docs"
    with pytest.raises(ValueError, match=rf"field 'a' \({remedy}/evolution.md\)"):
        read(data)
    if write == "binary":
        # Its checksum guards the key.
        return
    other = to(declared("a: int", f'"evolution.{write}.Lost"')(1))
    with pytest.raises(TypeError, match=r"\(if it was renamed: aliases, see docs/evolution.md\)"):
        read(other.replace("Lost", "Gone"))


def test_unknown_fields_of_pickles_anywhere():
    declared("a: int; b: int = 3", '"evolution.Shrinks"')
    old = isoform._core.class_of("evolution.Shrinks")
    for protocol in range(2, 6):
        data = pickle.dumps({"key": (1, [old(1), old(2)])}, protocol=protocol)
        declared("a: int", '"evolution.Shrinks", override=True')
        with pytest.raises(ValueError, match="unknown field 'b'"):
            pickle.loads(data)
        with pytest.raises(ValueError, match="unknown field 'b'"):
            serialization.loads(data)
        read = serialization.loads(data, ignore_unknown_fields=True)
        assert [one.a for one in read["key"][1]] == [1, 2]
        declared("a: int; b: int = 3", '"evolution.Shrinks", override=True')
        old = isoform._core.class_of("evolution.Shrinks")


DECLARATIONS = """
from isoform import Object, Map, declaration_digest
from isoform.dataclasses import field, py_class
declarations = ['''
@py_class("d.Leaf")
class Leaf(Object):
    value: int = 3
''', '''
@py_class("d.Base")
class Base(Object):
    line: int = field(default=0, structural_eq="ignore")
''', '''
@py_class("d.Other")
class Other(Object):
    x: int
''']
for position in {order}:
    exec(declarations[position], globals())
exec('''
@py_class("d.Root", structural_eq="{kind}")
class Root(Base):
    leaves: "list[Leaf | None]" = field(default_factory=list)
    table: "dict[str, tuple[Leaf, Root]]" = field(default_factory=dict)
    {field}
''', globals())
print(declaration_digest(Root).hex())
"""


def test_declaration_digests_are_those_of_other_processes():
    code = DECLARATIONS.replace("{kind}", "tree").replace("{field}", "n: int = 0")
    first, second = outputs_of(
        code.replace("{order}", "(0, 1)"), code.replace("{order}", "(2, 1, 0)")
    )
    assert first == second
    edits = [
        ("d.Leaf", "d.Leave"),
        ("value: int", "value: float"),
        ("value: int = 3", "value: int = 4"),
        ("value: int = 3", "value: int"),
        ("value: int", "number: int"),
        ("d.Base", "d.Basis"),
        ("n: int = 0", "n: int = 0; m: int = 0"),
        ("n: int = 0", 'n: int = field(default=0, structural_eq="def")'),
        ('structural_eq="tree"', 'structural_eq="dag"'),
        ("default_factory=list", "default_factory=lambda: [None]"),
    ]
    unseen = [
        ("line: int", "row: int"),
        ("x: int", "y: int"),
        ("n: int = 0", "n: int = field(default=0, repr=False, aliases=['old'])"),
    ]
    code = code.replace("{order}", "(0, 1, 2)")
    assert all(old in code for old, _ in [*edits, *unseen])
    outputs = outputs_of(*(code.replace(old, new) for old, new in [*edits, *unseen]))
    assert len({first, *outputs[: len(edits)]}) == 1 + len(edits)
    assert set(outputs[len(edits) :]) == {first}


def test_a_default_that_is_never_the_same():
    numbers = iter(range(100))

    @py_class("evolution.Numbered")
    class Numbered(Object):
        number: int = field(default_factory=lambda: next(numbers))

    assert declaration_digest(Numbered) == declaration_digest(Numbered)


def test_declaration_digests_of_no_class():
    for given in (int, New(), "evolution.New", None):
        with pytest.raises(TypeError, match="expected a class that is declared with py_class"):
            declaration_digest(given)


def test_chain_of_classes():
    """Classes that name each other in a chain of any length, at a cost linear in it."""
    names = {"Object": Object, "py_class": py_class}
    count = 1000
    for number in reversed(range(count)):
        schema = "int" if number == count - 1 else f"list[C{number + 1} | None]"
        body = f"class C{number}(Object):\n    next: {schema}"
        exec(f'@py_class("evolution.chain.{number}")\n{body}', names)  # noqa: S102
    digests = [declaration_digest(names[f"C{number}"]) for number in range(0, count, 200)]
    assert len(set(digests)) == len(digests)


def test_golden_files_are_read():
    folders = sorted(path for path in GOLDEN.iterdir() if path.is_dir())
    assert folders
    expected = golden_files.value()
    for folder in folders:
        files = list(folder.iterdir())
        assert {path.suffix for path in files} == {".json", ".bin", ".iso", ".pickle"}
        for path in files:
            assert structural_equal(golden_files.read(path), expected), path


def test_golden_files_are_those_of_this_version(tmp_path):
    """A change of a format gets a new folder, beside those that stay."""
    golden_files.write(tmp_path)
    newest = GOLDEN / golden_files.NEWEST
    # The bytes around those of Isoform are up to Python.
    for path in (path for path in tmp_path.iterdir() if path.suffix != ".pickle"):
        assert path.read_bytes() == (newest / path.name).read_bytes(), path.name
