"""The start: `import isoform` loads the core alone, and the command the native module alone."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import isoform
from isoform.serialization import to_bytes

PACKAGE = Path(isoform.__file__).parent
MODULES = isoform._MODULES
# Slow to import, and not needed by the core.
SLOW = {"asyncio", "logging", "multiprocessing", "numpy", "pathlib", "unittest"}


def run(code, *arguments, **options):
    """The output of a fresh process."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *(["-c", code] if code else []), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded(*command):
    """The modules that a process imports, beyond those of Python alone."""

    def of(*command):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", *command],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
        return {line.rpartition("|")[2].strip() for line in lines}

    return of(*command) - of("-c", "import runpy")


def test_the_core_alone():
    modules = loaded("-c", "import isoform")
    own = {name for name in modules if name.startswith("isoform.")}
    assert {"isoform._core", "isoform.container"} < own
    assert len(own) < 20
    for name in (
        "_value_classes",
        "corpus",
        "dataclasses",
        "ir",
        "onnx",
        "pattern",
        "pto",
        "relay",
        "transform",
    ):
        assert f"isoform.{name}" not in own
    assert not modules & SLOW


def test_the_command_loads_the_native_module_alone(tmp_path):
    script = tmp_path / "isoform"
    script.write_text("import sys\nfrom isoform.__main__ import main\nsys.exit(main())\n")
    for command in (["-m", "isoform", "--version"], [str(script), "--version"]):
        modules = loaded(*command)
        own = {name for name in modules if name.startswith("isoform")}
        assert own <= {"isoform", "isoform.__main__", "isoform._core"}, command
        assert not modules & SLOW


def test_the_command_loads_what_its_options_need(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import isoform\n"
        "from isoform.dataclasses import Object, py_class\n"
        "from isoform.text import to_text\n"
        "@py_class('start_test.Mine')\n"
        "class Mine(Object):\n"
        "    parts: list[int]\n"
        "print(isoform.Array([1]), to_text(Mine([2])))\n"
    )
    out = run(None, "-m", "isoform", "--import", "mine", "passes", cwd=tmp_path)
    assert out.startswith("(1,) start_test.Mine(parts=List[2])")


def test_another_program_of_the_name(tmp_path):
    script = tmp_path / "isoform"
    script.write_text("from isoform.text import from_text\nprint(from_text('[1, 2]'))\n")
    out = run(None, str(script))
    assert out == "(1, 2)\n"


@pytest.mark.parametrize("name", MODULES)
def test_every_module_can_come_first(name):
    run(f"from isoform import {name}; import isoform; assert isoform.{name} is {name}")


def test_names():
    code = (
        "import isoform; assert set(isoform.__all__) <= set(dir(isoform)); print(*isoform.__all__)"
    )
    names = run(code).split()
    assert names == sorted(isoform.__all__)
    for name in names:
        assert getattr(isoform, name) is not None
    # Names of modules that are functions or classes, too.
    assert run("import isoform, isoform.dtype; print(isoform.dtype('int8'))") == "int8\n"
    assert run("from isoform import *; print(relay.var('x').name_hint, Array([1]))") == "x (1,)\n"
    with pytest.raises(AttributeError, match="module 'isoform' has no attribute 'nothing'"):
        isoform.nothing  # noqa: B018
    with pytest.raises(ImportError):
        from isoform import nothing  # noqa: F401


def test_checkers_read_the_same_names():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    imported = {
        alias.asname: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    (written,) = (node.value for node in tree.body if isinstance(node, ast.Assign))
    assert sorted(ast.literal_eval(written)) == sorted(isoform.__all__)
    assert set(isoform.__all__) < imported.keys()
    assert set(MODULES) < imported.keys()
    for name, module in imported.items():
        if name not in MODULES:
            home = sys.modules.get(module) or __import__(module, fromlist=[name])
            assert getattr(isoform, name) is getattr(home, name)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: isoform.relay.var("x"), "(value + value).op.name == 'add'"),
        (lambda: isoform.ir.GlobalVar("f"), "value.astext()"),
        (lambda: isoform.ir.IRModule(), "len(value.functions) == 0 and value.astext() is not None"),
        (lambda: isoform.tir.Var("n", "int32"), "(value + 1).a is value"),
        (lambda: isoform.pto.ir.Var("x", isoform.pto.DataType.INT64), "value.name_hint == 'x'"),
        (lambda: isoform.transform.PassInfo(1, "A"), "'A' in repr(value)"),
    ],
    ids=["relay", "ir", "module", "tir", "pto", "transform"],
)
def test_objects_of_a_file_load_their_dialect(make, code):
    """The classes are those with the methods of Python, also for objects inside of others."""
    fresh = "from isoform.serialization import from_bytes\n"
    for value, part in ((make(), ""), ([make()], "[0]")):
        data = to_bytes(value)
        assert run(f"{fresh}value = from_bytes({data!r}){part}; print(bool({code}))") == "True\n"
        shown = f"print(from_bytes({data!r}))"
        assert run(fresh + shown) == run(f"import isoform.relay, isoform.pto\n{fresh}{shown}")


def test_threads_load_a_dialect_once():
    code = """
import threading
from isoform.serialization import from_bytes
start = threading.Barrier(8)
found = []
def read():
    start.wait()
    found.append(type(from_bytes(DATA)))
threads = [threading.Thread(target=read) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
print(len(found), len(set(found)), found[0].__module__)
"""
    code = f"DATA = {to_bytes(isoform.relay.var('x'))!r}\n{code}"
    assert run(code) == "8 1 isoform.relay.expr\n"
