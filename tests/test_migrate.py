"""The move of a code base from tvm-ffi: `python -m isoform.migrate`."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import isoform
from isoform import migrate as tool
from isoform.migrate import migrate

REWRITTEN = {
    "import tvm_ffi\nx = tvm_ffi.Object\n": "import isoform\nx = isoform.Object\n",
    "import tvm_ffi as ffi\nx = ffi.Object\n": "import isoform as ffi\nx = ffi.Object\n",
    "from tvm_ffi import Object, Array as A  # both\n": (
        "from isoform import Object, Array as A  # both\n"
    ),
    "from tvm_ffi.dataclasses import (\n    py_class,  # one\n    field,\n)\n": (
        "from isoform.dataclasses import (\n    py_class,  # one\n    field,\n)\n"
    ),
    "import tvm_ffi.dataclasses\nx = tvm_ffi.dataclasses.field\n": (
        "import isoform.dataclasses\nx = isoform.dataclasses.field\n"
    ),
    "import tvm_ffi.dataclasses as dc\n": "import isoform.dataclasses as dc\n",
    "def f():\n    import tvm_ffi\n    return tvm_ffi.Map({})\n": (
        "def f():\n    import isoform\n    return isoform.Map({})\n"
    ),
    # Names that tvm-ffi alone has.
    "from tvm_ffi import Object, load_module\n": (
        "from isoform import Object\nfrom tvm_ffi import load_module\n"
    ),
    "import tvm_ffi\nx = tvm_ffi.Object, tvm_ffi.load_module\n": (
        "import isoform\nimport tvm_ffi\nx = isoform.Object, tvm_ffi.load_module\n"
    ),
    "import tvm_ffi as f\nx = f.Object, f.load_module\n": (
        "import isoform\nimport tvm_ffi as f\nx = isoform.Object, f.load_module\n"
    ),
    "import tvm_ffi.libinfo\nx = tvm_ffi.Object, tvm_ffi.libinfo\n": (
        "import isoform\nimport tvm_ffi.libinfo\nx = isoform.Object, tvm_ffi.libinfo\n"
    ),
    "if 1: import tvm_ffi; x = tvm_ffi.Map, tvm_ffi.LIB\n": (
        "if 1: import isoform; import tvm_ffi; x = isoform.Map, tvm_ffi.LIB\n"
    ),
    "from tvm_ffi import Object, LIB": "from isoform import Object\nfrom tvm_ffi import LIB",
    "import tvm_ffi\nx = tvm_ffi.Object, tvm_ffi.Function\n": (
        "import isoform\nx = isoform.Object, isoform.Function\n"
    ),
    "import tvm_ffi\nx = tvm_ffi.Object, tvm_ffi.Function, tvm_ffi.load_module\n": (
        "import isoform\nimport tvm_ffi\n"
        "x = isoform.Object, tvm_ffi.Function, tvm_ffi.load_module\n"
    ),
    # Positions are in bytes, lines end in several ways, and form feeds end none.
    "import tvm_ffi\r\ns = 'äö€😀', tvm_ffi.Object\r\n": (
        "import isoform\r\ns = 'äö€😀', isoform.Object\r\n"
    ),
    "import tvm_ffi\n\x0c\nx = tvm_ffi.Object  # \u2028\n": (
        "import isoform\n\x0c\nx = isoform.Object  # \u2028\n"
    ),
    "import os, tvm_ffi as f\nx = f.Object\n": (
        "import isoform\nimport os, tvm_ffi as f\nx = isoform.Object\n"
    ),
    "from  tvm_ffi  import Object\n": None,
}


@pytest.mark.parametrize(("old", "new"), REWRITTEN.items())
def test_rewritten(old, new):
    done = migrate(old)
    assert done.source == (old if new is None else new)
    assert (done.source == old) == (done.changed == 0)
    # A second run finds nothing to do.
    assert migrate(done.source).source == done.source


UNTOUCHED = {
    "from tvm_ffi import *\n": "import the names that are used",
    "tvm_ffi = 1\nimport tvm_ffi\n": "another object here",
    "import tvm_ffi\nisoform = 1\ntvm_ffi.Object\n": "isoform is another object here",
    "import tvm_ffi\ndef f(tvm_ffi): return tvm_ffi.Object\n": "another object here",
    "import tvm_ffi\nf(tvm_ffi)\n": "a value here",
    "from tvm_ffi import load_module\n": "keep tvm_ffi for it; both work in one process",
    "from tvm_ffi import (\n    Object,  # one\n    LIB,\n)\n": "a comment",
    "from tvm_ffi.cpp import load_inline\n": "isoform has no isoform.cpp.load_inline",
    "x: 'tvm_ffi.Object'\n": "in a string",
    "import tvm_ffi\n": "nothing uses tvm_ffi",
    "from tvm_ffi import Module\n": "named group of functions",
    "from tvm_ffi.dataclasses.py_class import py_class\n": "write from isoform.dataclasses import",
    "from tvm_ffi.core import Tensor\n": "write from isoform import Tensor",
    "x.__tvm_ffi_type_info__\n": "write __isoform_type_info__",
}


@pytest.mark.parametrize(("source", "why"), UNTOUCHED.items())
def test_what_is_not_understood_stays_and_is_reported(source, why):
    done = migrate(source)
    assert done.source == source
    assert any(why in remark.text for remark in done.remarks), done.remarks
    assert all(remark.line <= source.count("\n") + 1 for remark in done.remarks)


def test_differences_are_reported_with_their_line():
    done = migrate(
        "import tvm_ffi\n"
        "@tvm_ffi.dataclasses.c_class('a.B')\n"
        "class B:\n"
        "    def __tvm_ffi_value__(self): return 1\n"
        "f(x._move())\n"
        "tvm_ffi.structural_walk(x, f)\n"
    )
    told = {remark.line: remark.text for remark in done.remarks}
    assert "declared in C++" in told[2]
    assert "write __isoform_value__" in told[4]
    assert "never changed in place" in told[5]
    assert "isoform.uses.Uses" in told[6]


def test_other_sources_are_not_looked_at():
    source = "import os\nx._move()\n"
    assert migrate(source) == tool.Migration(source)


def test_every_name_of_the_answer_is_missing():
    from isoform._left_out import LEFT_OUT

    for name in LEFT_OUT:
        with pytest.raises(AttributeError, match=r"docs/tvm-ffi\.md"):
            getattr(isoform, name)
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        isoform.nothing  # noqa: B018
    with pytest.raises(ImportError):
        from isoform import load_module  # noqa: F401


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.py").write_bytes(b"# coding: latin-1\nimport tvm_ffi\nx = '\xe9', tvm_ffi.Map\n")
    (tmp_path / "b.py").write_text("from tvm_ffi import LIB\n")
    (tmp_path / "c.py").write_text("x = 1\n")
    return tmp_path


def run(*arguments):
    command = [sys.executable, "-m", "isoform.migrate", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_file_that_uses_tvm_itself_leads_to_its_page(tmp_path, capsys):
    (tmp_path / "a.py").write_text("import os, tvm.ir\n")
    (tmp_path / "b.py").write_text("from tvm import relay\n")
    (tmp_path / "c.py").write_text("from . import tvm\nimport tvmx\n")
    assert tool.main([str(tmp_path)]) == 0
    assert "2 files import tvm: docs/from-tvm.md" in capsys.readouterr().out
    with pytest.raises(AttributeError, match=r"; write isoform\.ir\.IRModule$"):
        _ = isoform.IRModule
    with pytest.raises(AttributeError, match=r"; write isoform\.tir\.Var or isoform\.relay\.Var$"):
        _ = isoform.Var


def test_the_command(folder):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    checked = run(folder, "--check")
    assert checked.returncode == 1
    assert "would change 2 lines in 1 files; 1 lines to look at" in checked.stdout
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    done = run(folder)
    assert done.returncode == 0
    assert f"{folder / 'b.py'}:1: tvm_ffi.LIB: keep tvm_ffi" in done.stdout
    written = (folder / "a.py").read_bytes()
    assert written == b"# coding: latin-1\nimport isoform\nx = '\xe9', isoform.Map\n"
    assert (folder / "b.py").read_bytes() == before[folder / "b.py"]
    assert run(folder, "--check").returncode == 0


def test_a_code_base_that_loads_cpp_keeps_what_it_exchanges(tmp_path):
    (tmp_path / "load.py").write_text("from tvm_ffi import load_module\n")
    (tmp_path / "call.py").write_text("from tvm_ffi import Array, Function\n")
    done = run(tmp_path)
    assert f"{tmp_path / 'call.py'}:1: tvm_ffi.Function: stays, because" in done.stdout
    assert (tmp_path / "call.py").read_text() == (
        "from isoform import Array\nfrom tvm_ffi import Function\n"
    )


def test_files_that_are_not_python_are_errors(folder):
    (folder / "bad.py").write_text("def\n")
    done = run(folder)
    assert done.returncode == 2
    assert "bad.py: not changed: " in done.stderr
    assert run(folder / "missing.py").returncode == 2


def test_sources_of_tvm_ffi_itself_stay_python():
    found = importlib.util.find_spec("tvm_ffi")
    if found is None or found.origin is None:
        pytest.skip("no tvm-ffi here; make test-interop has it")
    files = sorted(Path(found.origin).parent.rglob("*.py"))
    assert files
    for path in files:
        source = path.read_text(encoding="utf-8")
        done = migrate(source)
        ast.parse(done.source)
        assert migrate(done.source).source == done.source
