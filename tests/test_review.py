"""The Action and the hooks, run step by step as they are written, with real repositories."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
import yaml
from onnx import TensorProto, helper

ROOT = Path(__file__).resolve().parent.parent
COMMAND = os.environ.get("ISOFORM_COMMAND") or f"{shlex.quote(sys.executable)} -m isoform"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def write_model(path, last="Relu", bias=0.5):
    """A small model."""
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], name="add"),
        helper.make_node("Exp", ["a"], ["e"], name="exp"),
        helper.make_node("Sigmoid", ["e"], ["s"], name="sigmoid"),
        helper.make_node(last, ["s"], ["y"], name="last"),
    ]
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    weights = [helper.make_tensor("b", TensorProto.FLOAT, [2], [bias, bias])]
    graph = helper.make_graph(nodes, "main", value[:1], value[1:], weights)
    opset = [helper.make_opsetid("", 17)]
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


class Repository:
    """A repository with two commits."""

    def __init__(self, folder):
        """Make the first commit: two models and a text."""
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        write_model(folder / "models/net.onnx")
        write_model(folder / "models/other|name.onnx")
        write_model(folder / "gone.onnx")
        (folder / "map.iso").write_text('{"lr": 0.1}\n')
        self.commit("Models")
        self.base = self.git("rev-parse", "HEAD").strip()

    def git(self, *words):
        """The output of git."""
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words]
        return subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout

    def commit(self, message):
        """Commit everything; returns the revision."""
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD").strip()

    def edit(self):
        """The second commit: one edit, one new file, one removed, one only renamed inside."""
        write_model(self.folder / "models/net.onnx", last="Tanh")
        (self.folder / "models/new.iso").write_text("[1, 2]\n")
        (self.folder / "gone.onnx").unlink()
        (self.folder / "map.iso").write_text('// other bytes\n{"lr": 0.1}\n')
        return self.commit("Edits")


# ---- the Action ----------------------------------------------------------------------

GH = r"""#!{python}
import json, os, sys
from pathlib import Path

store = Path(os.environ["FAKE_GH"])
words = sys.argv[1:]
with (store / "calls").open("a") as calls:
    calls.write(json.dumps(words) + "\n")
if os.environ.get("FAKE_GH_FORBIDDEN"):
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
# The calls that fail, by the words before their number: "before" or "after" the deed.
failing = json.loads(os.environ.get("FAKE_GH_FAILING", "{{}}"))
deed = "list" if "--jq" in words else words[words.index("--method") + 1]
with (store / f"{{deed}}-count").open("a+") as counted:
    counted.write(".")
    fails = failing.get(f"{{deed}} {{counted.tell()}}")
if fails == "before":
    sys.exit("gh: Bad Gateway (HTTP 502)")
comments = store / "comments.json"
known = json.loads(comments.read_text()) if comments.exists() else []
if "--jq" in words:
    for comment in known:
        print(json.dumps([comment["id"], comment["type"], comment["body"]]))
    sys.exit()
body = next(word for word in words if word.startswith("body=@"))
text = Path(body.removeprefix("body=@")).read_text()
if "PATCH" in words:
    number = int(next(w for w in words if "/comments/" in w).rsplit("/", 1)[1])
    next(c for c in known if c["id"] == number)["body"] = text
else:
    known.append({{"id": len(known) + 1, "type": "Bot", "body": text}})
comments.write_text(json.dumps(known))
if fails == "after":
    sys.exit("gh: Bad Gateway (HTTP 502)")
"""


class Runner:
    """Runs the steps of `action.yml`: expressions, environment files and shells."""

    def __init__(self, folder, workspace, inputs, context):
        """A runner with the inputs of the user and the context of GitHub."""
        self.folder, self.workspace = folder, workspace
        self.action = yaml.safe_load((ROOT / "action.yml").read_text())
        self.context = context
        self.outputs, self.uploads, self.log = {}, [], ""
        folder.mkdir()
        binaries = folder / "bin"
        binaries.mkdir()
        gh = binaries / "gh"
        gh.write_text(GH.format(python=sys.executable))
        gh.chmod(0o755)
        (binaries / "python3").symlink_to(sys.executable)
        self.environment = dict(os.environ) | {
            "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "GITHUB_OUTPUT": str(folder / "output"),
            "RUNNER_TEMP": str(folder),
            "FAKE_GH": str(folder),
            "ISOFORM_COMMAND": COMMAND,
        }
        unknown = set(inputs) - set(self.action["inputs"])
        assert not unknown, f"no such inputs: {unknown}"
        defaults = {name: given["default"] for name, given in self.action["inputs"].items()}
        self.inputs = {name: self.text(value) for name, value in defaults.items()} | inputs

    def value(self, expression):
        """The value of an expression: names, texts, ==, !=, && and ||."""
        for sign in ("||", "&&"):
            if sign in expression:
                left, right = (self.value(side) for side in expression.split(sign, 1))
                return (left or right) if sign == "||" else (left and right)
        for sign in ("==", "!="):
            if sign in expression:
                left, right = (self.value(side) for side in expression.split(sign))
                return (left == right) == (sign == "==")
        expression = expression.strip()
        if expression.startswith("'"):
            return expression[1:-1]
        root, *names = expression.split(".")
        if root == "inputs":
            return self.inputs[".".join(names)]
        if root == "steps":
            step, kind, name = names
            assert kind == "outputs"
            return self.outputs.get(step, {}).get(name, "")
        assert root == "github", expression
        found = self.context
        for name in names:
            found = found.get(name, {})
        return found if isinstance(found, str) else ""

    def text(self, template):
        """A text with the values of its expressions."""
        return re.sub(r"\$\{\{(.*?)\}\}", lambda m: str(self.value(m[1])), str(template))

    def run(self):
        """Run all steps; returns the status of the last one."""
        for step in self.action["runs"]["steps"]:
            condition = step.get("if", "${{ true }}")
            inside = condition.removeprefix("${{").removesuffix("}}")
            if "if" in step and not self.value(inside):
                continue
            if "uses" in step:
                assert step["uses"].startswith("actions/upload-artifact@")
                path = self.workspace / self.text(step["with"]["path"])
                self.uploads.append((self.text(step["with"]["name"]), path))
                continue
            output = Path(self.environment["GITHUB_OUTPUT"])
            output.write_text("")
            environment = {name: self.text(value) for name, value in step.get("env", {}).items()}
            ran = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.workspace,
                env=self.environment | environment,
                capture_output=True,
                text=True,
            )
            self.log += ran.stdout + ran.stderr
            lines = (line.split("=", 1) for line in output.read_text().splitlines())
            self.outputs[step.get("id", step["name"])] = dict(lines)
            if ran.returncode != 0:
                return ran.returncode
        return 0

    def calls(self):
        """The calls of GitHub: `list` or a method."""
        lines = map(json.loads, (self.folder / "calls").read_text().splitlines())
        return ["list" if "--jq" in line else line[line.index("--method") + 1] for line in lines]

    def comments(self):
        """The bodies of all comments."""
        file = self.folder / "comments.json"
        return [comment["body"] for comment in json.loads(file.read_text())]


def context(base, head):
    """The event of a pull request, as GitHub writes it."""
    return {
        "server_url": "https://github.com",
        "repository": "o/r",
        "run_id": "7",
        "token": "t",
        "event": {
            "pull_request": {"number": "5", "base": {"sha": base}, "head": {"sha": head}},
        },
    }


@pytest.fixture
def repository(tmp_path):
    """A repository with one commit."""
    folder = tmp_path / "repository"
    folder.mkdir()
    return Repository(folder)


def test_the_action_comments_and_keeps_pages(repository, tmp_path):
    head = repository.edit()
    runner = Runner(
        tmp_path / "run", repository.folder, {"install": ""}, context(repository.base, head)
    )
    assert runner.run() == 0, runner.log
    counted = {"files": "4", "different": "3", "pages": "true"}
    assert {name: runner.outputs["compare"][name] for name in counted} == counted
    (comment,) = runner.comments()
    for part in (
        "<code>models/net.onnx</code> | different",
        "<code>models/new.iso</code> | added",
        "<code>gone.onnx</code> | removed",
        "<code>map.iso</code> | the same program",
        "https://github.com/o/r/actions/runs/7",
        "Tanh",
    ):
        assert part in comment, comment
    assert len(comment) < 60_000
    ((name, uploaded),) = runner.uploads
    assert name == "isoform-review"
    listed = json.loads((uploaded / "result.json").read_text())
    pages = {entry["file"]: entry["page"] for entry in listed}
    assert re.fullmatch(r"models-net\.onnx-[0-9a-f]{16}\.html", pages["models/net.onnx"])
    page = (uploaded / "pages" / pages["models/net.onnx"]).read_text()
    assert page.lstrip().lower().startswith("<!doctype html>") and "Tanh" in page
    assert (tmp_path / "run/summary").read_text() == comment

    # The second run updates the comment; a comment of a person with the marker stays.
    known = json.loads((tmp_path / "run/comments.json").read_text())
    person = {"id": 9, "type": "User", "body": known[0]["body"]}
    (tmp_path / "run/comments.json").write_text(json.dumps([person, *known]))
    write_model(repository.folder / "models/net.onnx", last="Elu")
    runner.context = context(repository.base, repository.commit("Another edit"))
    runner.inputs |= {"head": runner.context["event"]["pull_request"]["head"]["sha"]}
    assert runner.run() == 0, runner.log
    by_person, by_action = runner.comments()
    assert by_person == comment and "Elu" in by_action


def test_a_fork_gets_the_summary_without_a_comment(repository, tmp_path):
    head = repository.edit()
    runner = Runner(
        tmp_path / "run", repository.folder, {"install": ""}, context(repository.base, head)
    )
    runner.environment["FAKE_GH_FORBIDDEN"] = "1"
    assert runner.run() == 0, runner.log
    assert "::notice::No permission" in runner.log
    assert "models/net.onnx" in (tmp_path / "run/summary").read_text()


@pytest.mark.parametrize(
    ("failing", "calls"),
    [
        # The server wrote the comment, and then failed.
        ({"POST 1": "after"}, ["list", "POST", "list", "PATCH"]),
        ({"POST 1": "before"}, ["list", "POST", "list", "POST"]),
        ({"list 1": "before"}, ["list", "list", "POST"]),
    ],
)
def test_a_failing_server_gets_one_comment(repository, tmp_path, failing, calls):
    event = context(repository.base, repository.edit())
    runner = Runner(tmp_path / "run", repository.folder, {"install": ""}, event)
    runner.environment["FAKE_GH_FAILING"] = json.dumps(failing)
    assert runner.run() == 0, runner.log
    assert len(runner.comments()) == 1
    assert runner.calls() == calls


def test_a_server_that_goes_on_failing_ends_the_step(repository, tmp_path):
    event = context(repository.base, repository.edit())
    runner = Runner(tmp_path / "run", repository.folder, {"install": ""}, event)
    failing = {f"list {number}": "before" for number in range(1, 9)}
    runner.environment["FAKE_GH_FAILING"] = json.dumps(failing)
    assert runner.run() == 2
    assert "review: gh api: gh: Bad Gateway (HTTP 502)" in runner.log
    assert set(runner.calls()) == {"list"}


def test_each_title_has_a_comment_of_its_own(repository, tmp_path):
    event = context(repository.base, repository.edit())
    titles = ["模型", "模块", "Modèles", "a+b", "a b", "x --> y"]
    for number, title in enumerate(titles):
        inputs = {"install": "", "title": title}
        runner = Runner(tmp_path / str(number), repository.folder, inputs, event)
        runner.environment["FAKE_GH"] = str(tmp_path / "0")
        for _ in range(2):
            assert runner.run() == 0, runner.log
    runner.folder = tmp_path / "0"
    comments = runner.comments()
    assert [comment.split("\n")[1] for comment in comments] == [f"### {it}" for it in titles]
    for comment in comments:
        assert re.fullmatch(r"<!-- [^<>]+ -->", comment.split("\n")[0]), comment


def test_differences_can_fail_the_step(repository, tmp_path):
    inputs = {"install": "", "comment": "false", "fail-on-difference": "true"}
    same = repository.base
    runner = Runner(tmp_path / "same", repository.folder, inputs, context(same, same))
    assert runner.run() == 0, runner.log
    assert "No model changed" in (tmp_path / "same/summary").read_text()
    assert not runner.uploads
    head = repository.edit()
    runner = Runner(tmp_path / "other", repository.folder, inputs, context(same, head))
    assert runner.run() == 1, runner.log
    assert not (tmp_path / "other/calls").exists()


def test_only_changes_of_the_pull_request_count(repository, tmp_path):
    repository.git("checkout", "-qb", "feature")
    write_model(repository.folder / "models/net.onnx", bias=0.75)
    head = repository.commit("Feature")
    repository.git("checkout", "-q", "main")
    (repository.folder / "gone.onnx").unlink()
    base = repository.commit("Meanwhile")
    runner = Runner(tmp_path / "run", repository.folder, {"install": ""}, context(base, head))
    assert runner.run() == 0, runner.log
    assert runner.outputs["compare"]["files"] == "1"


def test_hostile_names_and_broken_files_are_shown_as_text(repository, tmp_path):
    name = "a<img src=x>|`b`$(touch pwned).onnx"
    write_model(repository.folder / name)
    base = repository.commit("A name")
    (repository.folder / name).write_bytes(b"```\n<script>alert(1)</script>")
    head = repository.commit("Broken")
    runner = Runner(tmp_path / "run", repository.folder, {"install": ""}, context(base, head))
    assert runner.run() == 0, runner.log
    (comment,) = runner.comments()
    table, details = comment.split("<details", 1)
    assert "<img" not in table and "&#124;" in table and "not readable" in table
    # The reason is in a block of code that its own backticks do not end.
    assert "<img" not in details.split("````")[0] and details.count("````") == 2
    assert not (repository.folder / "pwned").exists()


def review(folder, *words, command=COMMAND):
    """Run the script by hand."""
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts/review.py"), *map(str, words)],
        cwd=folder,
        env=dict(os.environ) | {"ISOFORM_COMMAND": command},
        capture_output=True,
        text=True,
    )


def test_folders_can_be_compared_by_hand(tmp_path):
    write_model(tmp_path / "before/deep/net.onnx")
    write_model(tmp_path / "after/deep/net.onnx", last="Tanh")
    ran = review(tmp_path, "compare", "--base", "before", "--head", "after", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    (found,) = json.loads((tmp_path / "out/result.json").read_text())
    assert (found["file"], found["verdict"]) == ("deep/net.onnx", "different")
    assert (tmp_path / "out/pages" / found["page"]).exists()
    ran = review(tmp_path, "compare", "--base", "before", "--head", "nowhere")
    assert ran.returncode == 2 and "review: " in ran.stderr


def compared(folder, *words):
    """The entries of `result.json` and the summary of a comparison that succeeds."""
    ran = review(folder, "compare", "--out", folder.parent / "out", *words)
    assert ran.returncode == 0, ran.stderr
    entries = json.loads((folder.parent / "out/result.json").read_text())
    return entries, (folder.parent / "out/summary.md").read_text()


def test_each_model_has_a_page_of_its_own(tmp_path):
    long = "d" * 200
    # The models are told apart by the operator that each page names.
    operators = {
        "a/b.onnx": "Tanh",
        "a-b.onnx": "Sin",
        "a b.onnx": "Cos",
        "A-B.onnx": "Elu",
        "模型.onnx": "Abs",
        "模块.onnx": "Neg",
        f"{long}/{long}.onnx": "Sqrt",
        f"{long}/{'e' * 200}.onnx": "Floor",
    }
    for name, operator in operators.items():
        write_model(tmp_path / "before" / name)
        write_model(tmp_path / "after" / name, last=operator)
    entries, _ = compared(tmp_path / "before", "--base", ".", "--head", "../after")
    assert {entry["file"] for entry in entries} == set(operators)
    pages = [entry["page"] for entry in entries]
    assert len({page.lower() for page in pages}) == len(operators)
    for entry in entries:
        assert entry["verdict"] == "different", entry
        page = entry["page"]
        assert re.fullmatch(r"[A-Za-z0-9._-]+", page) and len(page) < 200
        assert operators[entry["file"]] in (tmp_path / "out/pages" / page).read_text()


@pytest.mark.parametrize("empty", ["", " "])
@pytest.mark.parametrize("label", ["base", "head"])
def test_an_empty_revision_is_an_error(repository, label, empty):
    sides = {"base": ".", "head": "."} | {label: empty}
    words = [f"--{side}={value}" for side, value in sides.items()]
    ran = review(repository.folder, "compare", *words)
    assert ran.returncode == 2 and not ran.stdout
    assert ran.stderr.startswith(f"review: {label}: expected a revision, folder or file")


def test_the_action_fails_without_a_pull_request(repository, tmp_path):
    event = context("", "") | {"event": {}}
    runner = Runner(tmp_path / "run", repository.folder, {"install": ""}, event)
    assert runner.run() == 2
    assert "set the inputs base and head" in runner.log and not runner.uploads
    # With both inputs, any event has a review.
    head = repository.edit()
    inputs = {"install": "", "base": repository.base, "head": head}
    runner = Runner(tmp_path / "set", repository.folder, inputs, event)
    assert runner.run() == 0, runner.log
    assert runner.outputs["compare"]["files"] == "4"


def write_bytes_name(folder, name, **words):
    """Write a model under a name that is bytes; skips where the system has no such names."""
    try:
        write_model(folder / "plain.tmp", **words)
        (folder / "plain.tmp").replace(folder / os.fsdecode(name))
    except OSError:
        pytest.skip("the file system only has names in Unicode")


def test_names_need_not_be_utf_8(repository, tmp_path):
    names = [b"bad\xff.onnx", b"bad\xfe.onnx"]
    for name in names:
        write_bytes_name(repository.folder, name)
    write_bytes_name(repository.folder, b"gone\xff.onnx")
    base = repository.commit("Names")
    for name, operator in zip(names, ["Tanh", "Elu"], strict=True):
        write_bytes_name(repository.folder, name, last=operator)
    (repository.folder / os.fsdecode(b"gone\xff.onnx")).unlink()
    write_model(repository.folder / "models/net.onnx", last="Tanh")
    head = repository.commit("Edits")
    entries, text = compared(repository.folder, "--base", base, "--head", head)
    verdicts = sorted((entry["file"], entry["verdict"]) for entry in entries)
    assert verdicts == [
        ("bad\ufffd.onnx", "different"),
        ("bad\ufffd.onnx", "different"),
        ("gone\ufffd.onnx", "removed"),
        ("models/net.onnx", "different"),
    ]
    assert len({entry["page"] for entry in entries}) == 4
    assert "<code>bad\ufffd.onnx</code> | different" in text and "Elu" in text


def test_options_without_a_closing_quotation_are_an_error(repository):
    words = ["compare", "--base", repository.base, "--head", repository.edit()]
    ran = review(repository.folder, *words, '--options="unclosed')
    assert ran.returncode == 2
    assert ran.stderr == (
        'review: --options: "unclosed: expected words of a shell: No closing quotation\n'
    )


@pytest.mark.parametrize("option", ["--no-such-option", "--rtol=x", "--help", "--first", "stray"])
def test_options_that_the_command_does_not_have_are_an_error(repository, tmp_path, option):
    event = context(repository.base, repository.edit())
    inputs = {"install": "", "options": option}
    runner = Runner(tmp_path / "run", repository.folder, inputs, event)
    assert runner.run() == 2
    assert f"review: isoform diff {option}: " in runner.log and not runner.uploads
    assert not (tmp_path / "run/comments.json").exists()


def test_a_command_that_does_not_run_is_an_error(repository):
    words = ["compare", "--base", repository.base, "--head", repository.edit(), "--out", "out"]
    for command in [f"{shlex.quote(sys.executable)} -m no_such_module", "false", "true"]:
        ran = review(repository.folder, *words, command=command)
        # Python has the same exit status as a comparison of files that differ.
        assert ran.returncode == 2 and ran.stderr.startswith("review: isoform diff"), ran.stderr
        assert not (repository.folder / "out").exists()


def test_only_the_pages_of_the_run_are_in_the_folder(tmp_path):
    for name, last in [("before/a", "Relu"), ("before/b", "Relu"), ("one/a", "Tanh")]:
        write_model(tmp_path / f"{name}.onnx", last=last)
    write_model(tmp_path / "two/b.onnx", last="Tanh")
    out = tmp_path / "out"
    for side, name in (("one", "a"), ("two", "b")):
        entries, _ = compared(tmp_path / "before", "--base", ".", "--head", f"../{side}")
        pages = [entry["page"] for entry in entries if entry["page"]]
        assert len(pages) == 1 and pages[0].startswith(name)
        assert [path.name for path in (out / "pages").iterdir()] == pages
    # Nobody else's file is removed or uploaded.
    for foreign in ("mine.txt", "pages/mine.html"):
        (out / foreign).write_text("mine")
        before = sorted(path.relative_to(out) for path in out.rglob("*"))
        ran = review(tmp_path, "compare", "--base", "before", "--head", "one", "--out", "out")
        assert ran.returncode == 2
        assert ran.stderr.startswith("review: out: expected an empty folder"), ran.stderr
        assert foreign in ran.stderr
        assert sorted(path.relative_to(out) for path in out.rglob("*")) == before
        (out / foreign).unlink()
    # A list that names files elsewhere, or a link, is not followed.
    (tmp_path / "kept.html").write_text("mine")
    (out / "result.json").write_text(json.dumps([{"page": "../../kept.html"}, 3]))
    ran = review(tmp_path, "compare", "--base", "before", "--head", "one", "--out", "out")
    assert ran.returncode == 2 and (tmp_path / "kept.html").exists()
    shutil.rmtree(out)
    out.mkdir()
    (out / "summary.md").symlink_to(tmp_path / "kept.html")
    ran = review(tmp_path, "compare", "--base", "before", "--head", "one", "--out", "out")
    assert ran.returncode == 2 and (tmp_path / "kept.html").read_text() == "mine"


def test_the_pages_are_only_mentioned_if_there_are_any(repository, tmp_path):
    write_model(repository.folder / "alone.onnx")
    event = context(repository.base, repository.commit("One more"))
    runner = Runner(tmp_path / "run", repository.folder, {"install": ""}, event)
    assert runner.run() == 0, runner.log
    (comment,) = runner.comments()
    assert not runner.uploads and "artefact" not in comment
    assert "<code>alone.onnx</code> | added" in comment


def test_a_file_that_git_cannot_read_does_not_end_the_review(repository):
    folder = repository.folder
    write_model(folder / "filtered\N{LATIN SMALL LETTER E WITH ACUTE}.onnx")
    repository.git("init", "-q", "module.onnx")
    module = ("-C", "module.onnx", "commit", "-q", "--allow-empty", "-m")
    repository.git(*module, "One")
    base = repository.commit("Models")
    repository.git(*module, "Two")
    write_model(folder / "filtered\N{LATIN SMALL LETTER E WITH ACUTE}.onnx", last="Tanh")
    write_model(folder / "models/net.onnx", last="Tanh")
    head = repository.commit("Edits")
    # The filter fails, as that of Git LFS does without the object.
    (folder / ".gitattributes").write_text("filtered*.onnx filter=broken\n")
    repository.git("config", "filter.broken.smudge", "false")
    repository.git("config", "filter.broken.required", "true")
    entries, text = compared(folder, "--base", base, "--head", head)
    assert {entry["file"]: entry["verdict"] for entry in entries} == {
        "filtered\N{LATIN SMALL LETTER E WITH ACUTE}.onnx": "not readable",
        "models/net.onnx": "different",
        "module.onnx": "not readable",
    }
    assert "smudge filter broken failed" in text and "cannot read object" in text


def test_links_that_lead_to_no_file_of_the_folder_are_shown(tmp_path):
    (tmp_path / "secret.iso").write_text('{"password": "77.5"}')
    for side in ("before", "after"):
        write_model(tmp_path / side / "net.onnx", last="Tanh" if side == "after" else "Relu")
        write_model(tmp_path / side / "gone.onnx")
        (tmp_path / side / "alias.onnx").symlink_to("net.onnx")
        (tmp_path / side / "circle.onnx").symlink_to("circle.onnx")
        (tmp_path / side / "secret.iso").symlink_to(tmp_path / "secret.iso")
    (tmp_path / "after/secret.iso").unlink()
    (tmp_path / "after/secret.iso").write_text("[]")
    (tmp_path / "after/gone.onnx").unlink()
    (tmp_path / "after/gone.onnx").symlink_to("nowhere.onnx")
    entries, text = compared(tmp_path / "before", "--base", ".", "--head", "../after")
    assert {entry["file"]: entry["verdict"] for entry in entries} == {
        "alias.onnx": "different",
        "circle.onnx": "not readable",
        "gone.onnx": "not readable",
        "net.onnx": "different",
        "secret.iso": "not readable",
    }
    assert "a link out of the folder" in text and "No such file" in text
    assert "77.5" not in text


def test_links_in_git_are_followed_inside_of_the_repository(repository, tmp_path):
    folder = repository.folder
    (tmp_path / "secret.iso").write_text('{"password": "77.5"}')
    (folder / "deep").mkdir()
    (folder / "deep/alias.onnx").symlink_to("../gone.onnx")
    (folder / "out.iso").symlink_to("map.iso")
    write_data_model(folder / "real/data.onnx", [1, 2])
    (folder / "data.onnx").symlink_to("real/data.onnx")
    base = repository.commit("Links")
    write_model(folder / "models/net.onnx", last="Tanh")
    for name, target in [
        ("deep/alias.onnx", "../models/net.onnx"),
        ("out.iso", "../secret.iso"),
        ("data.onnx", "models/net.onnx"),
    ]:
        (folder / name).unlink()
        (folder / name).symlink_to(target)
    head = repository.commit("Other links")
    entries, text = compared(folder, "--base", base, "--head", head)
    assert {entry["file"]: entry["verdict"] for entry in entries} == {
        "data.onnx": "different",
        "deep/alias.onnx": "different",
        "models/net.onnx": "different",
        "out.iso": "not readable",
    }
    assert "a link to no file of the revision" in text and "77.5" not in text


def read_by_filter(repository, name):
    """Let a filter read the models of a name; returns a list of its calls."""
    log = repository.folder.parent / "filtered"
    log.touch()
    script = repository.folder.parent / "filter.sh"
    script.write_text(f'#!/bin/sh\necho "$1" >> {shlex.quote(str(log))}\ncat\n')
    script.chmod(0o755)
    repository.git("config", "filter.logged.smudge", f"{shlex.quote(str(script))} %f")
    repository.git("config", "filter.logged.clean", "cat")
    (repository.folder / ".gitattributes").write_text(f"{name} filter=logged\n")
    return lambda: sorted(log.read_text().splitlines())


def test_models_are_only_read_if_they_may_have_changed(repository):
    folder = repository.folder
    read = read_by_filter(repository, "*.onnx")
    write_data_model(folder / "top.onnx", [1, 2])
    write_data_model(folder / "deep/net.onnx", [1, 2])
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 8\n"
    (folder / "large.onnx").write_text(pointer.format("a" * 64))
    (folder / "README.md").write_text("One.\n")
    base = repository.commit("Models")
    (folder / "README.md").write_text("Two.\n")
    write_data_model(folder / "deep/net.onnx", [1, 3])
    head = repository.commit("Other weights")
    entries, _ = compared(folder, "--base", base, "--head", head)
    assert [entry["file"] for entry in entries] == ["deep/net.onnx"]
    # The last part of the name of its data is that of the other model's, too.
    assert set(read()) == {"deep/net.onnx", "top.onnx"}
    # Data that Git LFS keeps may be those of a model that Git LFS keeps.
    (folder / "weights.bin").write_text(pointer.format("b" * 64))
    last = repository.commit("Weights in Git LFS")
    entries, _ = compared(folder, "--base", head, "--head", last)
    assert not entries and "large.onnx" in read()


def write_data_model(path, weights, last="Relu"):
    """A model with weights in a file beside it."""
    write_model(path, last=last)
    model = onnx.load(path)
    (tensor,) = model.graph.initializer
    tensor.raw_data = struct.pack("<2f", *weights)
    tensor.ClearField("float_data")
    onnx.external_data_helper.set_external_data(tensor, "data/w-ä.bin", length=8)
    data = path.parent / "data/w-ä.bin"
    data.parent.mkdir(exist_ok=True)
    data.write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    path.write_bytes(model.SerializeToString())


UNKNOWN = "the same architecture (weights not compared)"


def test_changed_data_is_a_change_of_the_model(repository):
    folder = repository.folder
    write_data_model(folder / "deep/net.onnx", [1, 2])
    write_data_model(folder / "still/net.onnx", [1, 2])
    base = repository.commit("Models")
    write_data_model(folder / "deep/net.onnx", [1, 3])
    (folder / "still/other.bin").write_bytes(b"no data of the model")
    head = repository.commit("Other weights")
    entries, text = compared(folder, "--base", base, "--head", head)
    verdicts = [(entry["file"], entry["verdict"]) for entry in entries]
    assert verdicts == [("deep/net.onnx", "different")]
    assert "weights changed | 1 of 1" in text, text


def test_changed_data_in_folders_is_a_change_of_the_model(tmp_path):
    for side, weights in (("before", [1, 2]), ("after", [1, 3])):
        write_data_model(tmp_path / side / "deep/net.onnx", weights)
        write_data_model(tmp_path / side / "same/net.onnx", [1, 2])
    before, after = tmp_path / "before", tmp_path / "after"
    assert (before / "deep/net.onnx").read_bytes() == (after / "deep/net.onnx").read_bytes()
    entries, text = compared(before, "--base", ".", "--head", "../after")
    verdicts = [(entry["file"], entry["verdict"]) for entry in entries]
    assert verdicts == [("deep/net.onnx", "different")]
    assert "weights changed | 1 of 1" in text, text
    # Two files by name have their data beside them, too.
    words = ["--base", "deep/net.onnx", "--head", "../after/deep/net.onnx"]
    ((entry,), _) = compared(before, *words)
    assert entry["verdict"] == "different"


@pytest.mark.parametrize("pointer", [False, True])
def test_weights_that_are_not_there_are_not_the_same(repository, pointer):
    folder = repository.folder
    data = folder / "net/data/w-ä.bin"
    revisions = []
    for sum_of_file in "ab":
        write_data_model(folder / "net/m.onnx", [1, 2])
        model = onnx.load(folder / "net/m.onnx", load_external_data=False)
        model.producer_name = sum_of_file
        (folder / "net/m.onnx").write_bytes(model.SerializeToString())
        data.unlink()
        if pointer:
            text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sum_of_file * 64}\n"
            data.write_text(f"{text}size 8\n")
        revisions.append(repository.commit(f"Export {sum_of_file}"))
    base, head = revisions
    entries, text = compared(folder, "--base", base, "--head", head)
    assert [entry["verdict"] for entry in entries] == [UNKNOWN]
    assert f"| {UNKNOWN} |" in text and "external data are not compared" in text


def test_data_is_not_read_outside_of_the_folder(tmp_path):
    (tmp_path / "secret").write_bytes(struct.pack("<2f", 77.5, 78.5))
    for side in ("before", "after"):
        write_data_model(tmp_path / side / "link.onnx", [1, 2])
        (tmp_path / side / "data/w-ä.bin").unlink()
        (tmp_path / side / "data/w-ä.bin").symlink_to(tmp_path / "secret")
        model = onnx.load(tmp_path / side / "link.onnx", load_external_data=False)
        model.producer_name = side
        (tmp_path / side / "link.onnx").write_bytes(model.SerializeToString())
        model.graph.initializer[0].external_data[0].value = "../secret"
        (tmp_path / side / "up.onnx").write_bytes(model.SerializeToString())
    entries, text = compared(tmp_path / "before", "--base", ".", "--head", "../after")
    assert {entry["file"]: entry["verdict"] for entry in entries} == {
        "link.onnx": UNKNOWN,
        "up.onnx": "not readable",
    }
    assert "../secret" in text
    for page in (tmp_path / "out/pages").iterdir():
        assert "77.5" not in page.read_text()


# ---- the hooks -----------------------------------------------------------------------


def hooks():
    """The hooks by id, with the command of this environment."""
    listed = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    return {hook["id"]: hook for hook in listed}


def run_hook(hook, folder):
    """Run a hook on all files, as pre-commit would."""
    entry = hook["entry"]
    assert entry.startswith("python -m isoform ")
    words = shlex.split(COMMAND) + shlex.split(entry)[3:]
    names = subprocess.run(
        ["git", "ls-files"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    files = [name for name in names if re.search(hook["files"], name)]
    assert files
    return subprocess.run([*words, *files], cwd=folder, capture_output=True, text=True)


def test_hooks_check_and_format(repository):
    folder, known = repository.folder, hooks()
    assert run_hook(known["isoform-check"], folder).returncode == 0
    assert run_hook(known["isoform-format"], folder).returncode == 0
    (folder / "map.iso").write_text('{"lr":    0.1}\n')
    assert run_hook(known["isoform-check"], folder).returncode == 0
    # A hook that changes files fails, and succeeds when it is run again.
    assert run_hook(known["isoform-format"], folder).returncode == 1
    assert (folder / "map.iso").read_text() == '{"lr": 0.1}\n'
    assert run_hook(known["isoform-format"], folder).returncode == 0
    (folder / "gone.onnx").write_bytes(b"\x0a\xff\xff\xff\xff\xff\xff\xff")
    ran = run_hook(known["isoform-check"], folder)
    assert ran.returncode == 2 and "gone.onnx" in ran.stderr


def installed(package, module):
    """The Python of an environment in the cache with a package; skips if there is none."""
    folder = ROOT / ".cache" / f"{module}-venv"
    python = folder / "bin/python"
    if (
        subprocess.run([python, "-c", f"import {module}"], check=False).returncode
        if (python.exists())
        else True
    ):
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        ran = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *package],
            capture_output=True,
            text=True,
        )
        if ran.returncode != 0:
            pytest.skip(f"{package[0]} cannot be installed")
    return python


def test_pre_commit_runs_the_hooks(repository):
    python = installed(["pre-commit"], "pre_commit")
    local = []
    for hook in hooks().values():
        entry = hook["entry"].replace("python -m isoform", COMMAND)
        local.append(hook | {"entry": entry, "language": "system"})
    config = {"repos": [{"repo": "local", "hooks": local}]}
    file = repository.folder / ".pre-commit-config.yaml"
    file.write_text(yaml.safe_dump(config))
    repository.git("add", ".pre-commit-config.yaml")

    def run():
        home = str(ROOT / ".cache/pre-commit-home")
        return subprocess.run(
            [python, "-m", "pre_commit", "run", "--all-files"],
            cwd=repository.folder,
            env=dict(os.environ) | {"PRE_COMMIT_HOME": home},
            capture_output=True,
            text=True,
        )

    ran = run()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("Passed") == 2, ran.stdout
    (repository.folder / "map.iso").write_text('{"lr":    0.1}\n')
    ran = run()
    assert ran.returncode == 1 and "files were modified by this hook" in ran.stdout, ran.stdout
    (repository.folder / "gone.onnx").write_bytes(b"nothing")
    ran = run()
    assert ran.returncode == 1 and "gone.onnx" in ran.stdout, ran.stdout


# ---- model-explorer ------------------------------------------------------------------

ADAPTER = """
import json, sys
from dataclasses import fields
from model_explorer import node_data_builder as ndb
from model_explorer_onnx.main import ONNXAdapter

folder, *models = sys.argv[1:]
found = []
for name, model in zip(("left", "right"), models):
    graphs = ONNXAdapter().convert(model, {})["graphs"]
    data = json.load(open(f"{folder}/{name}.json"))
    built = ndb.ModelNodeData({
        graph: ndb.GraphNodeData(
            name=given["name"],
            results={id: ndb.NodeDataResult(**value) for id, value in given["results"].items()},
        )
        for graph, given in data.items()
    })
    # What their own writer makes of it is what was read.
    again = json.loads(built.to_json_string())
    for graph, given in data.items():
        kept = {key: value for key, value in again[graph].items() if key in given}
        assert kept == given, (kept, given)
    assert set(data) == {graphs[0].id}, (list(data), graphs[0].id)
    ids = {node.id for node in graphs[0].nodes}
    marks = {id: value["value"] for id, value in data[graphs[0].id]["results"].items()}
    assert set(marks) <= ids, (marks, ids)
    found.append((ids, marks))
mapping = json.load(open(f"{folder}/mapping.json"))
pairs = mapping["mapping"]
(left, left_marks), (right, right_marks) = found
assert set(pairs) <= left and set(pairs.values()) <= right, (pairs, left, right)
print(json.dumps([left_marks, right_marks, pairs, sorted(left - set(pairs))]))
"""


def explore(tmp_path, left, right):
    """The files for two models, as model-explorer reads them with its adapter."""
    python = installed(["model-explorer-onnx", "ai-edge-model-explorer"], "model_explorer_onnx")
    command = [*shlex.split(COMMAND), "diff", "--model-explorer", "out", "--force", left, right]
    ran = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode in (0, 1), ran.stderr
    ran = subprocess.run(
        [python, "-c", ADAPTER, tmp_path / "out", left, right], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_model_explorer_knows_the_ids(tmp_path):
    left, right = tmp_path / "left.onnx", tmp_path / "right.onnx"
    write_model(left)
    model = onnx.load(left)
    # Names that are missing or not unique get the ids that the adapter makes up.
    for node in model.graph.node:
        node.name = ""
    model.graph.node.insert(3, helper.make_node("Neg", ["s"], ["n"]))
    model.graph.node[4].input[0] = "n"
    onnx.save(model, right)
    left_marks, right_marks, pairs, alone = explore(tmp_path, left, right)
    assert left_marks == {"last": "changed"}
    assert right_marks == {"node_3": "inserted", "node_4": "changed"}
    assert pairs["add"] == "node" and pairs["last"] == "node_4"
    assert pairs["[value] x"] == "[value] x" and pairs["[value] b"] == "[value] b"
    assert not alone


def test_model_explorer_on_a_real_model(tmp_path):
    models = Path(os.environ.get("ISOFORM_MODELS", ROOT / ".cache/models"))
    source = models / "light_squeezenet.onnx"
    if not source.exists():
        pytest.skip("the models of the demo are not there")
    right = tmp_path / "right.onnx"
    script = ROOT / "scripts/edit_model.py"
    command = [sys.executable, script, "scramble", source, right, "--seed", "1"]
    subprocess.run(command, check=True, capture_output=True)
    left_marks, right_marks, pairs, alone = explore(tmp_path, source, right)
    assert left_marks == {} and right_marks == {}
    assert len(pairs) > 100 and not alone, alone
