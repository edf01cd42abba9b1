"""Changes of classes: the old and the new declarations, for the table of docs/evolution.md.

Each is a pair of class bodies in one module, `OLD` and `NEW`, which both make the class `C`, and
the objects that are written. Keys and modules have the number of the change.
"""

HEAD = """
from isoform import List, Object
from isoform.dataclasses import Enum, IntEnum, StrEnum, auto, entry, field, py_class
"""


def classes(body, base="Object", options="", key="C", before=""):
    lines = "\n".join(f"    {line}" for line in body.splitlines() or ["pass"])
    return f'{before}\n@py_class("ev{{n}}.{key}"{options})\nclass C({base}):\n{lines}\n'


IGNORED = 'field(default=0, structural_eq="ignore"'
A = classes("a: int")
AB = classes("a: int\nb: int")
MEMBERS = 'class K(Enum, type_key="ev{{n}}.K"):\n{}\n'
TWO = MEMBERS.format("    one = auto()\n    two = auto()")
OF_K = classes("a: K", before=TWO)
NUMBERS = 'class K(IntEnum, type_key="ev{{n}}.K"):\n{}\n'
BASE = '@py_class("ev{n}.Base")\nclass Base(Object):\n    '

# By the first column of the table: the old and the new source, and the object written.
CHANGES = {
    "a method, a docstring or a hint of `repr` changes": (
        A,
        classes('"""Text."""\na: int = field(repr=False)\ndef twice(self): return 2 * self.a'),
        "C(1)",
    ),
    "an ignored field with a default is added": (
        A,
        classes(f"a: int\nb: int = {IGNORED})"),
        "C(1)",
    ),
    "a compared field with a default is added": (A, classes("a: int\nb: int = 0"), "C(1)"),
    "a field without a default is added": (A, AB, "C(1)"),
    "an ignored field is removed": (classes(f"a: int\nb: int = {IGNORED})"), A, "C(1, 5)"),
    "a compared field is removed": (AB, A, "C(1, 2)"),
    "a field is renamed": (A, classes("b: int"), "C(1)"),
    "a compared field is renamed, with `aliases`": (
        A,
        classes('b: int = field(aliases=["a"])'),
        "C(1)",
    ),
    "an ignored field is renamed, with `aliases`": (
        classes(f"a: int\nb: int = {IGNORED})"),
        classes(f'a: int\nc: int = {IGNORED}, aliases=["b"])'),
        "C(1, 5)",
    ),
    "fields change places": (AB, classes("b: int\na: int"), "C(1, 2)"),
    "a field becomes keyword-only, or gets a converter": (
        A,
        classes("a: int = field(kw_only=True, converter=int)"),
        "C(1)",
    ),
    "a default changes": (classes("a: int = 1"), classes("a: int = 2"), "C(1)"),
    "`int` becomes `float`": (A, classes("a: float"), "C(1)"),
    "`float` becomes `int`": (classes("a: float"), A, "C(1.5)"),
    "`int` becomes `Optional[int]` or `object`": (
        A,
        classes("a: object"),
        # The number of a node in JSON.
        'List(["x", C(0)])',
    ),
    "`Optional[int]` or `object` becomes `int`": (classes("a: int | None"), A, "C(7)"),
    "`A` becomes `Optional[A]`, for another class `A`": (
        classes("a: B", before=BASE.replace("Base", "B") + "b: int = 0"),
        classes("a: B | None", before=BASE.replace("Base", "B") + "b: int = 0"),
        "C(B(1))",
    ),
    "a compared field becomes ignored": (AB, classes(f"a: int\nb: int = {IGNORED})"), "C(1, 2)"),
    'kind `"tree"` becomes `"dag"`': (
        A,
        classes("a: int", options=', structural_eq="dag"'),
        "C(1)",
    ),
    "the class becomes a scope": (A, classes("a: int", options=", scope=True"), "C(1)"),
    "a parent without fields is put above the class": (
        A,
        classes("a: int", base="Base", before=BASE + "pass"),
        "C(1)",
    ),
    "the first field moves to a new parent": (
        AB,
        classes("b: int", base="Base", before=BASE + "a: int"),
        "C(1, 2)",
    ),
    "the type key is renamed": (A, classes("a: int", key="D"), "C(1)"),
    "the type key is renamed, with `aliases`": (
        A,
        classes("a: int", key="D", options=', aliases=["ev{n}.C"]'),
        "C(1)",
    ),
    "two classes become one, with `aliases`": (
        A + A.replace("C", "D"),
        classes("a: int", options=', aliases=["ev{n}.D"]'),
        "List([D(1), C(2), D(3)])",
    ),
    "the class is removed": (A, "C = None", "C(1)"),
    "a member of an `Enum` is added at the end": (
        OF_K,
        classes("a: K", before=TWO + "    three = auto()\n"),
        "C(K.two)",
    ),
    "a member of an `Enum` is added in front": (
        OF_K,
        classes(
            "a: K", before=MEMBERS.format("    zero = auto()\n    one = auto()\n    two = auto()")
        ),
        "C(K.two)",
    ),
    "a member of an `IntEnum` is added in front": (
        classes("a: K", before=NUMBERS.format("    one = 1\n    two = 2")),
        classes("a: K", before=NUMBERS.format("    zero = 0\n    one = 1\n    two = 2")),
        "C(K.two)",
    ),
    "the type key of an `Enum` is renamed, with `aliases`": (
        OF_K,
        OF_K.replace('type_key="ev{n}.K"', 'type_key="ev{n}.L", aliases=["ev{n}.K"]'),
        "C(K.two)",
    ),
    "a member of an enum is removed": (
        OF_K,
        classes("a: K", before=MEMBERS.format("    one = auto()")),
        "C(K.two)",
    ),
}


def write_modules(folder, version):
    """Writes one module for each change; `version` is 0 for the old classes, 1 for the new."""
    for number, change in enumerate(CHANGES.values()):
        source = HEAD + change[version].replace("{n}", str(number))
        (folder / f"evolving_{number}.py").write_text(source, encoding="utf-8")


WRITE = """
import importlib, json, pickle
import isoform
from isoform import serialization, text
from evolving import CHANGES

results = []
for number, (_, _, made) in enumerate(CHANGES.values()):
    module = importlib.import_module(f"evolving_{number}")
    made = eval(made, vars(module))
    results.append({
        "JSON": serialization.to_json_graph_str(made),
        "binary": serialization.to_bytes(made).hex(),
        "text": text.to_text(made),
        "pickle": pickle.dumps(made).hex(),
        "digest": isoform.structural_digest(made).hex(),
        "declaration": isoform.declaration_digest(module.C).hex(),
    })
print(json.dumps(results))
"""

READ = """
import importlib, json, sys
import isoform
from isoform import serialization, text
from evolving import CHANGES

READERS = {
    "JSON": serialization.from_json_graph_str,
    "binary": lambda data, **options: serialization.from_bytes(bytes.fromhex(data), **options),
    "text": text.from_text,
    "pickle": lambda data, **options: serialization.loads(bytes.fromhex(data), **options),
}

def outcome(read, data):
    for word, options in (("read", {}), ("option", {"ignore_unknown_fields": True})):
        try:
            return word, isoform.structural_digest(read(data, **options)).hex()
        except (ImportError, TypeError, ValueError) as error:
            last = error
    return "error", str(last)

results = []
for number, written in enumerate(json.loads(sys.argv[1])):
    module = importlib.import_module(f"evolving_{number}")
    found = {name: outcome(read, written[name]) for name, read in READERS.items()}
    found["declaration"] = isoform.declaration_digest(module.C).hex() if module.C else None
    results.append(found)
print(json.dumps(results))
"""
