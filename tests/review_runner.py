"""A repository with models, and a runner of the steps of the Action as they are written."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import onnx
import yaml
from onnx import TensorProto, helper

ROOT = Path(__file__).resolve().parent.parent
COMMAND = os.environ.get("ISOFORM_COMMAND") or f"{shlex.quote(sys.executable)} -m isoform"


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


def review(folder, *words, command=COMMAND):
    """Run the script by hand."""
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts/review.py"), *map(str, words)],
        cwd=folder,
        env=dict(os.environ) | {"ISOFORM_COMMAND": command},
        capture_output=True,
        text=True,
    )


def compared(folder, *words):
    """The entries of `result.json` and the summary of a comparison that succeeds."""
    ran = review(folder, "compare", "--out", folder.parent / "out", *words)
    assert ran.returncode == 0, ran.stderr
    entries = json.loads((folder.parent / "out/result.json").read_text())
    return entries, (folder.parent / "out/summary.md").read_text()
