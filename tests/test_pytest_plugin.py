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


def test_an_update_keeps_links_and_permissions(run, pytester):
    (pytester.path / "shared").mkdir()
    target = pytester.path / "shared" / "f.iso"
    links = [pytester.path / name for name in ("link.iso", "dangling.iso", "again.iso")]
    links[0].symlink_to(target)
    links[1].symlink_to(pytester.path / "new" / "g.iso")
    links[2].symlink_to(links[0])
    target.write_text("1\n")
    target.chmod(0o640)
    source = """
        def test_it(golden):
            golden(2, "link.iso")
            golden(3, "dangling.iso")
            golden(2, "again.iso")
            golden(4, "{long}")
        """.replace("{long}", "n" * 251 + ".iso")
    run("--golden-update", test_it=source).assert_outcomes(passed=1)
    assert all(link.is_symlink() for link in links)
    assert target.read_text() == "2\n"
    assert target.stat().st_mode & 0o7777 == 0o640
    assert (pytester.path / "new" / "g.iso").read_text() == "3\n"
    assert [path.name for path in target.parent.iterdir()] == ["f.iso"]


def test_an_update_leaves_files_that_are_read_only(run, pytester):
    file = pytester.path / "f.iso"
    file.write_text("1\n")
    file.chmod(0o444)
    (pytester.path / "link.iso").symlink_to(file)
    done = run(
        "--golden-update",
        test_it="""
        def test_it(golden):
            golden(2, "f.iso")

        def test_link(golden):
            golden(2, "link.iso")

        def test_equal(golden):
            golden(1, "f.iso")
        """,
    )
    done.assert_outcomes(failed=2, passed=1)
    done.stdout.fnmatch_lines(["*golden file */f.iso: cannot be written: */f.iso is read-only"])
    done.stdout.fnmatch_lines(["*golden file */link.iso: cannot be written: */f.iso is read-only"])
    assert file.read_text() == "1\n"
    assert file.stat().st_mode & 0o7777 == 0o444


def test_two_values_for_one_file_are_a_failure(run, pytester):
    source = """
        from kinds import *

        def test_first(golden):
            golden(fun("x", 1), "f.iso")

        def test_equal(golden):
            golden(fun("y", 1), "other/../f.iso")

        def test_other(golden):
            golden(fun("x", 2), "link.iso")
        """
    (pytester.path / "other").mkdir()
    (pytester.path / "link.iso").symlink_to(pytester.path / "f.iso")
    done = run("--golden-update", test_it=source)
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(
        ["*link.iso: the value*differs*", "*this run already wrote another value*"]
    )
    before = (pytester.path / "f.iso").read_text()
    for arguments in ([], ["--golden-update"]):
        done = run(*arguments)
        done.assert_outcomes(passed=2, failed=1)
        done.stdout.fnmatch_lines(["*this run already compared another value*"])
        done.stdout.no_fnmatch_line("*run pytest with*")
    assert (pytester.path / "f.iso").read_text() == before


@pytest.mark.parametrize("arguments", [[], ["--golden-update"]], ids=["compare", "update"])
def test_a_path_that_leads_to_no_file_is_a_failure(run, pytester, arguments):
    import os

    (pytester.path / "folder").mkdir()
    (pytester.path / "loop").symlink_to("loop")
    (pytester.path / "file").write_text("1\n")
    os.mkfifo(pytester.path / "pipe")
    done = run(
        *arguments,
        test_it=r"""
        import pytest

        @pytest.mark.parametrize(
            ("path", "reason"),
            [
                ("folder", "a folder"),
                ("", "a folder"),
                ("loop", "symbolic links"),
                ("file/f.iso", "Not a directory"),
                ("n" * 300, "name too long"),
                ("d/" * 5000, "name too long"),
                ("a\0b", "embedded null"),
                ("\ud800", "surrogates"),
                ("pipe", "no regular file"),
            ],
            ids=range(9),
        )
        def test_path(golden, path, reason):
            with pytest.raises(pytest.fail.Exception) as failed:
                golden(1, path)
            text = str(failed.value)
            assert text.startswith("golden file ") and ": cannot be read: " in text
            assert reason in text and "\0" not in text and "--golden-update" not in text

        @pytest.mark.parametrize("path", [None, 1, b"f.iso", ["f.iso"]])
        def test_type(golden, path):
            with pytest.raises(TypeError, match="expected the path of a file as str or os.PathLike"):
                golden(1, path)

        @pytest.mark.parametrize("suffix", [".json", ".isob"])
        def test_suffix(golden, suffix):
            with pytest.raises(ValueError, match=r"the file holds text, .*; write 'g/f.iso'"):
                golden(1, f"g/f{suffix}")

        def test_path_like(golden, tmp_path):
            (tmp_path / "f.iso").write_bytes(b"[1,\r\n2]\r\n")
            golden([1, 2], tmp_path / "f.iso")
        """,
    )
    done.assert_outcomes(passed=16)
    names = {path.name for path in pytester.path.iterdir()}
    assert {"folder", "loop", "file", "pipe"} <= names
    assert not any(name.endswith(".part") for name in names)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_an_update_that_cannot_write_is_a_failure(run):
    done = run(
        "--golden-update",
        test_it="""
        def test_it(golden):
            golden(1, "/proc/nothing/f.iso")
        """,
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*golden file /proc/nothing/f.iso: cannot be written: *"])
    done.stdout.no_fnmatch_line("*FileNotFoundError*")


def test_an_update_leaves_files_without_text(run, pytester):
    from isoform.serialization import to_bytes

    contents = {
        "garbage.iso": bytes(range(256)),
        "latin.iso": "é".encode("latin-1"),
        "nulls.iso": b"1\0",
        "value.txt": to_bytes([1, 2]),
    }
    for name, content in contents.items():
        (pytester.path / name).write_bytes(content)
    source = f"""
        import pytest

        @pytest.mark.parametrize("name", {list(contents)!r})
        def test_it(golden, name):
            golden(1, name)
        """
    for arguments in ([], ["--golden-update"]):
        done = run(*arguments, test_it=source)
        done.assert_outcomes(failed=4)
        for name in contents:
            done.stdout.fnmatch_lines(
                [f"*golden file */{name}: cannot be read: the file is not text*"]
            )
        done.stdout.fnmatch_lines(["*delete the file first*"])
        done.stdout.no_fnmatch_line("*golden-update*")
    for name, content in contents.items():
        assert (pytester.path / name).read_bytes() == content


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


def test_equal_objects_in_containers_are_explained(run):
    done = run(
        test_it="""
        from kinds import fun

        def test_lists():
            assert [fun("x")] == [fun("y")]

        def test_dicts():
            assert {"a": fun("x")} == {"a": fun("x", 2)}

        def test_plain():
            assert [1] == [2]
        """
    )
    done.assert_outcomes(failed=3)
    done.stdout.fnmatch_lines(
        [
            "*both are structurally equal, but `==` of the parts of a list *structural_equal(a, b)*",
            '*<root>*"a"*',
            "*At index 0 diff: 1 != 2*",
        ]
    )
