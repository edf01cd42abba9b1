"""The Action, run step by step as it is written, with real repositories."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys

import pytest
from review_runner import Repository, Runner, compared, context, review, write_model

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


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
