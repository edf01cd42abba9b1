"""The command on your own types: modules, packages, projects, files alone, terminals."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "own-ir-command.md").read_text(encoding="utf-8")
# Interpreters of a busy machine may take a while; no test waits this long.
PATIENCE = 60


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


(SOURCE,) = blocks("python")
FUNCTION = """\
mypkg.Fun(
  params=List[%x: mypkg.Var()],
  body=mypkg.Add(lhs=%x, rhs=mypkg.Add(lhs=mypkg.Const(value=1), rhs=mypkg.Const(value=2))),
)
"""
COLORS = ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS")


def package(folder, name="mypkg", source=SOURCE):
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("")
    (folder / name / "ir.py").write_text(source)


def installed(folder, name, points):
    """The metadata of a package with entry points."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = "".join(f"{point} = {value}\n" for point, value in points.items())
    (info / "entry_points.txt").write_text(f"[isoform.types]\n{lines}")


@pytest.fixture
def folder(tmp_path):
    """A folder with a function and a renamed copy, and a command for the path."""
    (tmp_path / "f.iso").write_text(FUNCTION)
    (tmp_path / "renamed.iso").write_text(FUNCTION.replace("%x", "%y"))
    tools = tmp_path / "tools"
    tools.mkdir()
    command = tools / "isoform"
    command.write_text(
        "#!/bin/sh\n"
        f'exec "{sys.executable}" -c "import sys; from isoform.__main__ import main; '
        'sys.exit(main())" "$@"\n'
    )
    command.chmod(0o755)
    return tmp_path


def environment(folder, *path, **more):
    known = {name: value for name, value in os.environ.items() if name not in COLORS}
    places = [*map(str, path), known.get("PYTHONPATH", "")]
    return {
        **known,
        "PATH": f"{folder / 'tools'}{os.pathsep}{known['PATH']}",
        "PYTHONPATH": os.pathsep.join(place for place in places if place),
        **more,
    }


def run(folder, *arguments, path=(), cwd=None, **more):
    return subprocess.run(
        [sys.executable, "-m", "isoform", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=cwd or folder,
        env=environment(folder, *path, **more),
    )


def check(done, status, out, err=""):
    assert (done.returncode, done.stdout, done.stderr) == (status, out, err)


# ---- the page ------------------------------------------------------------------------


def test_the_page_shows_what_the_command_prints(folder):
    package(folder)
    expected, found = [], []
    for transcript in blocks("console"):
        for line in transcript.splitlines():
            expected.append(line)
            if not line.startswith("$ "):
                continue
            done = subprocess.run(
                ["sh", "-c", line[2:]],
                cwd=folder,
                env=environment(folder),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            printed = re.sub(r"\b[0-9a-f]{64}\b", "HASH", done.stdout)
            found += [line, *printed.splitlines()]
    assert found == expected


def test_the_settings_of_the_page(folder):
    entry_points, project = blocks("toml")
    (folder / "pyproject.toml").write_text(project)
    package(folder)
    check(run(folder, "diff", "f.iso", "renamed.iso"), 0, "equal\n")
    site = folder / "site"
    package(site)
    points = dict([entry_points.splitlines()[1].replace('"', "").split(" = ")])
    installed(site, "mypkg", points)
    (folder / "pyproject.toml").unlink()
    check(run(folder, "diff", "f.iso", "renamed.iso", path=[site], cwd=site.parent), 0, "equal\n")


# ---- every command -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "status", "out"),
    [
        (["show", "-q", "f.iso"], 0, FUNCTION),
        (["diff", "f.iso", "renamed.iso"], 0, "equal\n"),
        (["diff", "--first", "f.iso", "folded.iso"], 1, None),
        (["hash", "f.iso"], 0, None),
        (["check", "f.iso"], 0, None),
        (["summary", "f.iso"], 0, None),
        (["dedup", "f.iso", "renamed.iso"], 0, None),
        (["clones", "f.iso", "folded.iso"], 0, None),
        (["convert", "f.iso", "f.json"], 0, ""),
        (["merge", "f.iso", "f.iso", "folded.iso", "-o", "-"], 0, None),
        (["index", "f.iso", "renamed.iso", "-o", "i.parquet"], 0, None),
        (["run", "mypkg.Fold", "f.iso", "-o", "out.iso"], 0, ""),
        (["git", "textconv", "f.iso"], 0, None),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_every_command_knows_imported_types(folder, arguments, status, out):
    package(folder)
    folded = (
        "mypkg.Fun(params=List[%x: mypkg.Var()], body=mypkg.Add(lhs=%x, rhs=mypkg.Const(value=3)))"
    )
    (folder / "folded.iso").write_text(folded)
    for words in (["--import", "mypkg.ir", *arguments], [*arguments, "--import=mypkg.ir"]):
        for file in ("f.json", "out.iso", "i.parquet"):
            (folder / file).unlink(missing_ok=True)
        done = run(folder, *words)
        assert done.returncode == status, done.stderr
        assert "unknown" not in done.stdout + done.stderr
        if out is not None:
            assert done.stdout == out


def test_modules_are_imported_in_order_from_both_places(folder):
    for name in "abc":
        (folder / f"{name}.py").write_text(
            f"from isoform import Object\nfrom isoform.dataclasses import py_class\n"
            f"@py_class('own_{name}.T')\nclass T(Object):\n    pass\nprint('{name}')\n"
        )
    done = run(folder, "--import", "a", "--import=b", "passes", "--import", "c", "--json")
    assert done.stdout.splitlines()[:3] == ["a", "b", "c"]
    done = run(
        folder, "--import", "a", "git", "--import", "b", "textconv", "--import", "c", "f.iso"
    )
    assert done.stdout.splitlines()[:3] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("nowhere", None, "ModuleNotFoundError: No module named 'nowhere'\nwrite the name as in"),
        ("nowhere.py", None, "FileNotFoundError"),
        ("inner/own", "", "the name of a file ends with .py: inner/own.py"),
        ("inner/own.py", "raise ValueError('no')\n", "ValueError: no\nTraceback"),
        ("inner/own.py", "import nowhere\n", "ModuleNotFoundError: No module named 'nowhere'\nTr"),
        ("inner/own.py", "from .ir import x\n", "name the module, --import inner.own\n"),
        ("inner/own.py", "x = 1\n", "the module declares no node types and registers no passes"),
    ],
)
def test_modules_that_cannot_be_used(folder, name, source, message):
    (folder / "inner").mkdir()
    if source is not None:
        (folder / "inner" / "own.py").write_text(source)
    done = run(folder, "--import", name, "show", "f.iso")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"isoform: --import {name}: ")
    assert message in done.stderr


# ---- entry points --------------------------------------------------------------------


LOUD = "print('imported', __name__)\n"


def test_only_the_named_package_is_imported(folder):
    site = folder / "site"
    package(site, source=LOUD + SOURCE)
    package(site, "other", LOUD)
    installed(site, "zother", {"mypk": "other.ir", "mypkg.Con": "other.ir"})
    installed(site, "mypkg", {"mypkg": "mypkg.ir"})
    done = run(folder, "diff", "f.iso", "renamed.iso", path=[site])
    check(done, 0, "imported mypkg.ir\nequal\n")
    # Nothing is imported for known types, nor with --no-config.
    (folder / "known.iso").write_text("ir.PrimType(dtype=int8)\n")
    check(run(folder, "show", "-q", "known.iso", path=[site]), 0, "ir.PrimType(dtype=int8)\n")
    done = run(folder, "hash", "--no-config", "f.iso", path=[site])
    assert (done.returncode, done.stdout) == (2, "")


def test_other_entry_points_are_the_last_resort(folder):
    site = folder / "site"
    package(site, source=LOUD + SOURCE)
    installed(site, "mypkg", {"another-name": "mypkg.ir"})
    check(run(folder, "diff", "f.iso", "renamed.iso", path=[site]), 0, "imported mypkg.ir\nequal\n")


@pytest.mark.parametrize("name", ["aaa", "mypkg.Var"])
def test_a_broken_entry_point_is_a_note(folder, name):
    site = folder / "site"
    package(site)
    package(site, "broken", "raise RuntimeError('broken')\n")
    installed(site, "broken", {name: "broken.ir"})
    installed(site, "mypkg", {"any": "mypkg.ir"})
    done = run(folder, "diff", "f.iso", "renamed.iso", path=[site])
    check(
        done,
        0,
        "equal\n",
        f"isoform: note: the entry point '{name} = broken.ir' of the package broken failed: "
        "RuntimeError: broken\n",
    )
    (folder / "known.iso").write_text("ir.PrimType(dtype=int8)\n")
    check(run(folder, "show", "-q", "known.iso", path=[site]), 0, "ir.PrimType(dtype=int8)\n")


def test_packages_of_the_current_folder_are_not_installed(folder):
    package(folder, source=LOUD + SOURCE)
    installed(folder, "mypkg", {"mypkg": "mypkg.ir"})
    done = run(folder, "hash", "f.iso")
    assert (done.returncode, done.stdout) == (2, "")


# ---- projects ------------------------------------------------------------------------


def test_the_project_of_a_folder(folder):
    package(folder, source=LOUD + SOURCE)
    settings = folder / "pyproject.toml"
    settings.write_text('[tool.isoform]\nimport = ["mypkg.ir"]\n')
    inner = folder / "inner"
    inner.mkdir()
    done = run(folder, "diff", "../f.iso", "../renamed.iso", cwd=inner)
    check(done, 0, "imported mypkg.ir\nequal\n")
    done = run(folder, "passes", cwd=inner)
    assert "\nmypkg.Fold  (level 0)\n" in done.stdout
    settings.write_text('[tool.isoform]\nimport = ["mypkg/ir.py"]\n')
    check(run(folder, "diff", "../f.iso", "../renamed.iso", cwd=inner), 0, "imported ir\nequal\n")
    (folder / "known.iso").write_text("ir.PrimType(dtype=int8)\n")
    check(run(folder, "show", "-q", "known.iso"), 0, "ir.PrimType(dtype=int8)\n")
    # Git's own calls and careful people run nothing of the folder.
    done = run(folder, "git", "textconv", "f.iso")
    assert "imported" not in done.stdout
    done = run(folder, "hash", "--no-config", "f.iso")
    assert (done.returncode, done.stdout) == (2, "")


def test_wrong_settings_are_errors(folder):
    settings = folder / "pyproject.toml"
    settings.write_text("[tool.isoform]\nio-names = true\n")
    done = run(folder, "show", "f.iso")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"isoform: {settings.resolve()}: TOML parse error at line 2")
    assert "unknown field `io-names`, expected `import`" in done.stderr
    settings.write_text('[tool.isoform]\nimport = ["mypkg.it"]\n')
    done = run(folder, "hash", "f.iso")
    assert (done.returncode, done.stdout) == (2, "")
    assert "import of 'mypkg.it' for " in done.stderr
    assert "No module named 'mypkg" in done.stderr


# ---- files alone ---------------------------------------------------------------------


def written(folder, code, name):
    """A file with a value that Python code makes of the types of the page."""
    forms = {
        ".json": "Path(NAME).write_text(to_json_graph_str(VALUE))\n",
        ".iso": "Path(NAME).write_text(to_text(VALUE))\n",
        ".isob": "Path(NAME).write_bytes(to_bytes(VALUE))\n",
    }
    imports = (
        "from pathlib import Path\nfrom isoform.text import to_text\n"
        "from isoform.serialization import to_bytes, to_json_graph_str\n"
    )
    source = f"{imports}{SOURCE}\nNAME = {name!r}\nVALUE = {code}\n"
    source += forms[Path(name).suffix]
    subprocess.run(
        [sys.executable, "-c", source],
        cwd=folder,
        env=environment(folder),
        check=True,
        timeout=PATIENCE,
    )


def fun(body, *names):
    params = ", ".join(f"{name} := Var({name!r})" for name in names)
    return f"Fun([{params}], {body})"


PAIRS = [
    # The code of two values, and whether they are equal for their types.
    (fun("Add(x, x)", "x"), fun("Add(x, x)", "x"), True),
    (fun("Add(x, x)", "x"), fun("Add(y, y)", "y"), True),
    (fun("Add(x, y)", "x", "y"), fun("Add(y, x)", "x", "y"), False),
    (fun("Add(x, y)", "x", "y"), fun("Add(x, x)", "x", "y"), False),
    (fun("Const(1)", "x"), fun("Const(1)", "x"), True),
    (fun("Const(1)", "x"), fun("Const(2)", "x"), False),
    # The same name twice: only sharing tells the variables apart.
    (
        "[a := Var('x'), b := Var('x'), Add(a, a)]",
        "[a := Var('x'), b := Var('x'), Add(a, b)]",
        False,
    ),
    ("[Const(7)] * 2", "[Const(7), Const(7)]", True),
    ("[c := Const(i) for i in range(9)]", "[c := Const(i) for i in range(9)]", True),
]


@pytest.mark.parametrize(
    "forms", [(".iso", ".iso"), (".json", ".json"), (".isob", ".isob"), (".isob", ".json")]
)
def test_no_verdict_by_the_files_alone_is_equal_for_different_values(folder, forms):
    verdicts = []
    for left, right, are_equal in PAIRS:
        names = [f"left{forms[0]}", f"right{forms[1]}"]
        written(folder, left, names[0])
        written(folder, right, names[1])
        done = run(folder, "diff", "-q", *names)
        verdicts.append(done.returncode)
        assert done.returncode in (0, 1, 2), done.stderr
        if not are_equal:
            assert done.returncode != 0, (left, right)
        if left == right:
            assert done.returncode == 0, (left, done.stderr)
    assert 1 in verdicts


RENAMED = """
from isoform import Object
from isoform.dataclasses import field, py_class


@py_class("mypkg.Node", abstract=True)
class Node(Object):
    pass


@py_class("mypkg.Var", structural_eq="var")
class Var(Node):
    name: str = field(structural_eq="ignore")


@py_class("mypkg.Sum")
class Sum(Node):
    lhs: Node
    rhs: Node


@py_class("mypkg.Const")
class Const(Node):
    value: int


@py_class("mypkg.Fun", scope=True)
class Fun(Object):
    params: list[Var] = field(structural_eq="def")
    body: Node
"""


@pytest.mark.parametrize("suffix", [".iso", ".json", ".isob"])
def test_a_renamed_class_does_not_keep_a_file_from_being_shown(folder, suffix):
    name = f"f{suffix}"
    written(folder, fun("Add(x, Add(Const(41), Const(-2)))", "x"), name)
    alone = run(folder, "show", "--no-config", name)
    (folder / "later.py").write_text(RENAMED)
    done = run(folder, "show", "--import", "later", name)
    assert (done.returncode, done.stdout) == (0, alone.stdout)
    assert "1 type is unknown here, mypkg.Add: shown by the file alone" in done.stderr
    assert "a class that was renamed since needs aliases" in done.stderr
    assert "name the module" not in done.stderr
    assert run(folder, "diff", "-q", "--import", "later", name, name).returncode == 0
    done = run(folder, "hash", "--import", "later", name)
    assert done.returncode == 2
    assert "if it was renamed: aliases, see docs/evolution.md" in done.stderr
    assert "name the module" not in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("params=List[%x: mypkg.Var()],", "params=List[%x: mypkg.Var()]", "line 3, column 3"),
        ("value=1)", 'value="1)', "line 3, column 62"),
    ],
)
def test_faults_of_a_text_are_told_when_the_types_are_known(folder, old, new, fault):
    package(folder)
    assert old in FUNCTION
    (folder / "bad.iso").write_text(FUNCTION.replace(old, new))
    named = run(folder, "hash", "--import", "mypkg.ir", "bad.iso")
    (folder / "pyproject.toml").write_text('[tool.isoform]\nimport = ["mypkg.ir"]\n')
    for command in ("hash", "show"):
        done = run(folder, command, "bad.iso")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(named.stderr.split(": text: ")[0])
        assert fault in done.stderr and "unknown type" not in done.stderr, done.stderr
    # Also a text of unknown types says where it is wrong.
    done = run(folder, "show", "--no-config", "bad.iso")
    assert done.returncode == 2
    assert "by the file alone: text: line " in done.stderr or "unknown type" in done.stderr


@pytest.mark.parametrize("suffix", [".iso", ".json", ".isob"])
def test_a_file_alone_is_shown_and_marked(folder, suffix):
    written(folder, fun("Add(x, Add(Const(41), Const(-2)))", "x"), f"f{suffix}")
    done = run(folder, "show", f"f{suffix}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n", 1)[1] == (
        "%x = unknown.mypkg.Var()\n"
        "unknown.mypkg.Fun(\n"
        "  params=List[%x],\n"
        "  body=unknown.mypkg.Add(\n"
        "    lhs=%x,\n"
        "    rhs=unknown.mypkg.Add(lhs=unknown.mypkg.Const(value=41), "
        "rhs=unknown.mypkg.Const(value=-2)),\n"
        "  ),\n"
        ")\n"
    )
    assert "isoform: note: 4 types are unknown here" in done.stderr
    assert "--import MODULE" in done.stderr
    for command in ("hash", "summary", "check", "clones", "dedup"):
        done = run(folder, command, f"f{suffix}")
        assert done.returncode == 2, command
        assert 'unknown type "mypkg.' in done.stderr, command
    assert "there is no digest" in run(folder, "hash", f"f{suffix}").stderr


def test_integers_and_references_of_a_graph_leave_the_verdict_open(folder):
    # The field `value` holds integers, which could be numbers of nodes, too.
    for name, order in (("a", "0, 1"), ("b", "1, 0")):
        (folder / f"{name}.json").write_text(
            '{"root_index":3,"nodes":[{"type":"ffi.String","data":"p"},'
            '{"type":"ffi.String","data":"q"},'
            '{"type":"own.T","data":{"value":1}},'
            f'{{"type":"ffi.Array","data":[{order},2]}}]}}'.replace("[1, 0,2]", "[0, 1, 2]")
        )
    done = run(folder, "diff", "a.json", "a.json")
    assert (done.returncode, done.stdout) == (0, "equal\n")
    assert "these fields may hold either: own.T.value" in done.stderr
    # The same list of values with other numbers: equal only if `value` is an integer.
    (folder / "b.json").write_text(
        '{"root_index":3,"nodes":[{"type":"ffi.String","data":"q"},'
        '{"type":"ffi.String","data":"p"},'
        '{"type":"own.T","data":{"value":1}},'
        '{"type":"ffi.Array","data":[1,0,2]}]}'
    )
    done = run(folder, "diff", "a.json", "b.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot tell whether the files are equal" in done.stderr


# ---- terminals -----------------------------------------------------------------------


def on_terminal(folder, *arguments, columns=40, **more):
    """The text on a terminal that is standard output, standard error apart, and the status."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "isoform", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(folder, TERM="xterm", **more),
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(screen, 1 << 16)
        except OSError:  # The process has closed the terminal.
            break
        if not part:
            break
        shown += part
    os.close(screen)
    _, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, shown.decode().replace("\r\n", "\n"), errors.decode()


COLOR = re.compile(r"\x1b\[[0-9;]*m")


def test_long_lines_are_cut_on_a_terminal(folder):
    line = '["' + "a" * 50 + '", "end"]'
    (folder / "long.iso").write_text(line + "\n")
    status, shown, _ = on_terminal(folder, "show", "-q", "--width", "200", "long.iso")
    assert (status, COLOR.sub("", shown)) == (0, line[:39] + "…\n")
    for arguments in (["--wide"], ["--json"]):
        _, shown, _ = on_terminal(folder, "show", "--width", "200", "long.iso", *arguments)
        assert "end" in shown
    _, shown, _ = on_terminal(folder, "show", "-q", "--width", "200", "long.iso", COLUMNS="70")
    assert "end" in shown
    assert "end" in run(folder, "show", "--width", "200", "long.iso", COLUMNS="40").stdout
    (folder / "other.iso").write_text(line.replace("end", "END") + "\n")
    _, shown, _ = on_terminal(folder, "diff", "long.iso", "other.iso", columns=20)
    assert max(map(len, COLOR.sub("", shown).splitlines())) <= 20
    _, shown, _ = on_terminal(folder, "diff", "--wide", "long.iso", "other.iso", columns=20)
    assert '"end" -> "END"' in COLOR.sub("", shown)


def test_marks_tell_the_sides_apart_on_a_terminal(folder):
    for name, text in [("a", "[1, 2, 3, 4]"), ("b", "[1, 20, 3]"), ("c", "[1, 2, 3]")]:
        (folder / f"{name}.iso").write_text(f"{text}\n")
    for names, marks in [("ac", "-"), ("ca", "+"), ("cb", "~")]:
        files = [f"{name}.iso" for name in names]
        status, shown, _ = on_terminal(folder, "diff", *files)
        first, *lines = COLOR.sub("", shown).splitlines()
        assert (status, first.split(":")[0]) == (1, "different")
        assert [line[:2] for line in lines] == [f"{mark} " for mark in marks], lines
        done = run(folder, "diff", *files)
        assert [line[2:] for line in lines] == done.stdout.splitlines()[1:]


def test_binary_is_not_written_to_a_terminal(folder):
    (folder / "p.iso").write_text("ir.PrimType(dtype=int8)\n")
    status, shown, errors = on_terminal(folder, "convert", "p.iso", "-", "--to", "binary")
    assert (status, shown) == (2, "")
    assert errors.startswith("isoform: -: the result is binary, and standard output is a terminal")
    status, shown, _ = on_terminal(folder, "convert", "p.iso", "-", "--to", "text")
    assert (status, shown) == (0, "ir.PrimType(dtype=int8)\n")
    status, shown, errors = on_terminal(folder, "optimize", "missing.onnx", "-")
    assert (status, shown) == (2, "")
    assert "standard output is a terminal" in errors
    done = subprocess.run(
        [sys.executable, "-m", "isoform", "convert", "p.iso", "-", "--to", "binary"],
        capture_output=True,
        cwd=folder,
        env=environment(folder),
        check=True,
    )
    assert done.stdout.startswith(b"\x89isoform")


def test_colour_follows_the_environment(folder):
    (folder / "p.iso").write_text("ir.PrimType(dtype=int8)\n")
    for more, is_colored in [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "0"}, False),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ]:
        assert ("\x1b[" in run(folder, "show", "p.iso", **more).stdout) is is_colored, more
    assert "\x1b[" not in run(folder, "show", "p.iso", "--color", "never", FORCE_COLOR="1").stdout
