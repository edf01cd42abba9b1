"""The files that a review compares: names, links, external data, and what is read at all."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import struct

import onnx
import pytest
from review_runner import Repository, compared, write_model

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def repository(tmp_path):
    """A repository with one commit."""
    folder = tmp_path / "repository"
    folder.mkdir()
    return Repository(folder)


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
