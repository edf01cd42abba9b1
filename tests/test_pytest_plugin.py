"""The plugin of pytest, in runs of its own."""

import sys

import pytest

pytest_plugins = ["pytester"]

TYPES = """
from typing import Any

from isoform import Object, structural_equal
from isoform.dataclasses import field, py_class


@py_class("plugin.Var", structural_eq="var")
class Var(Object):
    name: str = field(structural_eq="ignore")


@py_class("plugin.Add")
class Add(Object):
    lhs: Any
    rhs: Any
    note: str = field(default="", structural_eq="ignore")


@py_class("plugin.Fun", scope=True)
class Fun(Object):
    param: Var = field(structural_eq="def")
    body: Any


def fun(name, number=1, note=""):
    x = Var(name)
    return Fun(x, Add(x, number, note))
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs pytest with the plugin on a file of tests, in a process of its own."""
    import isoform

    # Found as an installed plugin, or named.
    monkeypatch.setenv("PYTHONPATH", isoform.__path__[0].rpartition("isoform")[0].rstrip("/"))
    pytester.makepyfile(kinds=TYPES)

    def run(*arguments, **files):
        if files:
            pytester.makepyfile(**files)
        return pytester.runpytest_subprocess("-p", "isoform.pytest_plugin", *arguments)

    return run


def test_a_failing_comparison_is_explained(run):
    done = run(
        test_it="""
        import isoform
        from kinds import *

        def test_call():
            assert structural_equal(fun("x", 1), fun("y", 2))

        def test_lines():
            assert isoform.structural_equal(
                fun("x", 1),
                fun("y", 3),
            ), "after the pass"

        def test_other():
            structural_equal(1, 2)
            assert not structural_equal(1, 1)
        """
    )
    done.assert_outcomes(failed=3)
    done.stdout.fnmatch_lines(["*structural difference*", "*<root>.body.rhs*", "*differences:*"])
    text = done.stdout.str()
    assert text.count(" structural difference ") == 2
    assert "^" in text


def test_objects_are_explained_by_structure(run):
    done = run(
        test_it="""
        from kinds import *

        def test_different():
            assert fun("x", 1) == fun("y", 2)

        def test_identity():
            assert fun("x") == fun("x")

        def test_mixed():
            assert fun("x") == 1
        """
    )
    done.assert_outcomes(failed=3)
    done.stdout.fnmatch_lines(["*Fun == Fun*", "*<root>.body.rhs*"])
    done.stdout.fnmatch_lines(["*structural_equal(a, b)*"])


def test_reports_are_bounded(run):
    done = run(
        test_it="""
        from kinds import *

        def test_it():
            left, right = ([Add(n, n + k) for n in range(100_000)] for k in (0, 1))
            assert structural_equal(left, right)
        """
    )
    done.assert_outcomes(failed=1)
    assert len(done.outlines) < 120
    assert max(map(len, done.outlines)) < 2_000


GOLDEN = """
from kinds import *

def test_it(golden):
    golden(fun({name!r}, {number}, {note!r}), "gold/f.iso")
"""


def test_golden_files(run, pytester):
    file = pytester.path / "gold" / "f.iso"
    first = GOLDEN.format(name="x", number=1, note="")
    done = run(test_it=first)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*f.iso*does not exist*", "*--golden-update*"])
    assert not file.exists()
    run("--golden-update").assert_outcomes(passed=1)
    assert [path.name for path in file.parent.iterdir()] == ["f.iso"]
    before = file.read_text()
    run().assert_outcomes(passed=1)

    # Names of variables and ignored fields may differ; the file stays as it is.
    renamed = GOLDEN.format(name="other", number=1, note="a note")
    run(test_it=renamed).assert_outcomes(passed=1)
    run("--golden-update").assert_outcomes(passed=1)
    assert file.read_text() == before

    changed = GOLDEN.format(name="x", number=2, note="")
    done = run(test_it=changed)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*<root>.body.rhs*", "*--golden-update*"])
    assert file.read_text() == before
    run("--golden-update").assert_outcomes(passed=1)
    assert file.read_text() != before
    run().assert_outcomes(passed=1)


def test_a_damaged_golden_file_is_a_failure(run, pytester):
    (pytester.path / "gold").mkdir()
    file = pytester.path / "gold" / "f.iso"
    file.write_text("plugin.Add(")
    done = run(test_it=GOLDEN.format(name="x", number=1, note=""))
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*f.iso*cannot be read*", "*--golden-update*"])
    run("--golden-update").assert_outcomes(passed=1)


def test_golden_values_may_have_free_variables(run):
    source = """
        from kinds import *

        def test_it(golden):
            golden(Add(Var("free"), 1), "f.iso")
        """
    run("--golden-update", test_it=source).assert_outcomes(passed=1)
    run().assert_outcomes(passed=1)


def test_runs_without_isoform_load_nothing(run):
    done = run(
        test_it="""
        import sys

        def test_it():
            assert "isoform.pytest_plugin" in sys.modules
            assert "isoform._core" not in sys.modules

        def test_failure():
            assert [1] == [2]
        """
    )
    done.assert_outcomes(passed=1, failed=1)


def test_isoform_is_complete_after_the_plugin(run):
    done = run(
        test_it="""
        def test_from():
            from isoform import Object, relay, structural_equal
            assert structural_equal([1], (1,))

        def test_submodule():
            import isoform.text
            assert isoform.text.to_text(1)
            assert len([m for m in __import__("sys").modules if m == "isoform._base"]) == 1
        """
    )
    done.assert_outcomes(passed=2)


def test_a_part_of_the_core_may_be_imported_first(run):
    done = run(
        test_it="""
        import isoform.structural
        from isoform.structural import StructuralKey

        def test_it():
            import isoform
            assert isoform.StructuralKey is StructuralKey
            assert isoform.structural.__spec__.origin == isoform.structural.__file__
        """
    )
    done.assert_outcomes(passed=1)


def test_the_entry_point_is_the_plugin():
    from pathlib import Path

    project = Path(__file__).parent.parent / "pyproject.toml"
    if not project.exists() or sys.version_info < (3, 11):
        pytest.skip("needs the sources and tomllib")
    import tomllib

    points = tomllib.loads(project.read_text())["project"]["entry-points"]["pytest11"]
    assert points == {"isoform.pytest_plugin": "isoform.pytest_plugin"}
