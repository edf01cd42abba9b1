"""The commands about collections of models: index, stats, find, dedup and clones, and their page."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="onnx writes the models of these collections: not installed")
from corpora import (
    PATIENCE,
    age,
    command,
    model_bytes,
    printed,
    rows_of,
    write_downloads,
    write_model,
    write_programs,
)
from scale import scaled

from isoform import corpus

ROOT = Path(__file__).resolve().parent.parent
MODELS = os.environ.get("ISOFORM_MODELS")
needs_models = pytest.mark.skipif(MODELS is None, reason="ISOFORM_MODELS names no folder of models")


@pytest.fixture
def downloads(tmp_path):
    write_downloads(tmp_path)
    printed(tmp_path, "index", "downloads", "-o", "models.parquet")
    return tmp_path


def masked(text):
    """The text without digests and sizes, which depend on versions of other packages."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    return re.sub(r"\b\d+(\.\d+)? (B|KiB)", "SIZE", text)


def test_the_page_shows_what_the_command_prints(tmp_path):
    write_downloads(tmp_path)
    tool = tmp_path / "tools" / "isoform"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m isoform "$@"\n')
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}"}
    page = (ROOT / "docs" / "corpora.md").read_text(encoding="utf-8")
    transcripts = re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(transcripts) > 5
    for transcript in transcripts:
        if "jq" in transcript and shutil.which("jq") is None:
            continue
        actual = []
        for line in transcript.splitlines():
            if line.startswith("$ "):
                done = subprocess.run(
                    ["sh", "-c", line[2:]],
                    cwd=tmp_path,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    timeout=PATIENCE,
                    check=False,
                )
                actual += [line, *done.stdout.splitlines()]
        assert masked("\n".join(actual)) == masked(transcript.strip())


def test_queries_of_the_page_are_valid(downloads):
    pytest.importorskip("duckdb", reason="DuckDB answers the queries: not installed")
    page = (ROOT / "docs" / "corpora.md").read_text(encoding="utf-8")
    queries = dict(re.findall(r"^\| ([^|]*) \| `(SELECT .*)` \|$", page, re.MULTILINE))
    ask = lambda query: corpus.sql(downloads / "models.parquet", query).fetchall()  # noqa: E731
    answers = {question: ask(query) for question, query in queries.items()}
    assert len(answers) == len(queries) >= 8
    assert sorted(answers["models by operator"]) == [("Add", 4), ("MatMul", 4), ("Relu", 4)]
    assert answers["models below an operator set"] == []
    assert answers["bytes that copies waste"] == [
        ((downloads / "downloads/base/model.onnx").stat().st_size,)
    ]
    ((digest, count),) = answers["layers by frequency"]
    assert (len(digest), count) == (64, 2 + 3 + 2 + 2)
    ((error, count),) = answers["failures by reason"]
    assert error and count == 1


def test_json_of_each_command(downloads):
    def lines(*arguments):
        return [json.loads(line) for line in printed(downloads, *arguments, "--json").splitlines()]

    (told,) = lines("index", "downloads", "-o", "again.parquet")
    size = sum(file.stat().st_size for file in (downloads / "downloads").rglob("*.onnx"))
    assert told == {"rows": 5, "read": 5, "kept": 0, "failed": 1, "bytes": size}
    (told,) = lines("stats", "models.parquet")
    assert (told["files"], told["failed"], told["programs"], told["architectures"]) == (5, 1, 3, 2)
    assert told["bytes"] == size
    assert [row["operator"] for row in told["operators"]] == ["Add", "MatMul", "Relu"]
    assert told["operators"][0] == {"operator": "Add", "files": 4, "uses": 18}
    assert told["opsets"] == [{"domain": "ai.onnx", "version": 17, "files": 4}]
    assert told["elements"] == {"float32": 18 * 72}
    assert [(kind["kind"], kind["files"]) for kind in told["kinds"]] == [("onnx", 4)]
    (told,) = lines("dedup", "models.parquet")
    (group,) = told["groups"]
    assert group["files"] == ["downloads/base/model.onnx", "downloads/mirror/model.onnx"]
    assert (told["models"], told["distinct"]) == (4, 3)
    assert [failed["file"] for failed in told["failed"]] == ["downloads/cut/model.onnx"]
    (told,) = lines("dedup", "--architecture", "models.parquet")
    assert [len(group["files"]) for group in told["groups"]] == [3]
    (told,) = lines("clones", "models.parquet")
    (block,) = told["blocks"]
    assert {file["file"].split("/")[1] for file in block["files"]} == {
        "base",
        "deep",
        "mirror",
        "tuned",
    }
    assert told["counts"] == {"blocks": 1}
    found = lines("find", "downloads/base/model.onnx", "models.parquet")
    assert [row["match"] for row in found] == ["program", "program", "architecture"]
    assert found[0]["digest"] == group["digest"]
    found = lines("find", block["digest"], "models.parquet")
    assert [row["match"] for row in found] == ["block"] * 4


def test_digests_are_those_of_hash_and_groups_those_of_folders(downloads):
    rows = {row.path: row for row in corpus.CorpusIndex(downloads / "models.parquet")}
    for option, column in [([], "digest"), (["--architecture"], "architecture")]:
        files = [path for path, row in rows.items() if row.error is None]
        for line in printed(downloads, "hash", *option, *files).splitlines():
            digest, path = line.split(maxsplit=1)
            assert getattr(rows[path], column) == digest
        by_index = json.loads(printed(downloads, "dedup", "--json", *option, "models.parquet"))
        status, output, _ = command(downloads, "dedup", "--json", *option, "downloads")
        assert status == 2  # A file is broken.
        assert by_index["groups"] == json.loads(output)["groups"]


@needs_models
def test_real_models_have_the_digests_of_hash(tmp_path):
    printed(tmp_path, "index", MODELS, "-o", "i.parquet")
    rows = list(corpus.CorpusIndex(tmp_path / "i.parquet"))
    for option, column in [("--quiet", "digest"), ("--architecture", "architecture")]:
        lines = printed(tmp_path, "hash", option, *(row.path for row in rows)).splitlines()
        assert [line.split()[0] for line in lines] == [getattr(row, column) for row in rows]
    by_index = json.loads(printed(tmp_path, "dedup", "--json", "i.parquet"))
    by_files = json.loads(printed(tmp_path, "dedup", "--json", MODELS))
    assert by_index == by_files


def test_find_tells_by_its_status(downloads):
    for what, status, start in [
        ("candidate.onnx", 0, "architecture  downloads/base/model.onnx\n"),
        ("downloads/mirror/model.onnx", 0, "program       downloads/base/model.onnx\n"),
        ("other.onnx", 1, "no file of the index matches\n"),
        ("00000000", 1, "no file of the index matches\n"),
    ]:
        told, output, errors = command(downloads, "find", what, "models.parquet")
        assert (told, errors) == (status, "")
        assert output.startswith(start)
    assert command(downloads, "find", "-q", "other.onnx", "models.parquet") == (1, "", "")
    assert command(downloads, "find", "--json", "other.onnx", "models.parquet") == (1, "", "")
    for what, index, message in [
        (
            "1234",
            "models.parquet",
            '8 to 64 hexadecimal digits of a digest, got "1234", or the name',
        ),
        ("downloads/cut/model.onnx", "models.parquet", "downloads/cut/model.onnx: "),
        ("candidate.onnx", "missing.parquet", "missing.parquet: "),
        ("candidate.onnx", "other.onnx", "other.onnx: "),
    ]:
        told, output, errors = command(downloads, "find", what, index)
        assert (told, output) == (2, "")
        assert message in errors


def test_wrong_arguments(downloads):
    before = (downloads / "models.parquet").read_bytes()
    for arguments, message in [
        (["index", "downloads"], "--output <INDEX>"),
        (["index", "downloads", "-o", "i.parquet", "--jobs", "0"], "--jobs"),
        (["index", "-o", "i.parquet"], "expected a folder or file to index, got none"),
        (["index", "other.onnx", "-o", "models.parquet"], "expected the roots of the index"),
        (["index", "downloads", "-o", "other.onnx"], "expected an index or no file"),
        (["index", "downloads", "-o", "downloads"], "expected the name of a file, got a folder"),
        (["index", "--architecture", "downloads", "-o", "i.parquet"], "both digests"),
        (["stats", "missing.parquet"], "missing.parquet"),
        (["stats", "downloads"], "'isoform index downloads -o index.parquet' makes the index"),
    ]:
        status, output, errors = command(downloads, *arguments)
        assert (status, output) == (2, ""), arguments
        assert message in errors
    assert (downloads / "models.parquet").read_bytes() == before
    assert not (downloads / "i.parquet").exists()


def test_options_that_shorten_the_output(downloads):
    assert printed(downloads, "index", "-q", "-o", "models.parquet") == ""
    assert "and 2 more" in printed(downloads, "stats", "--max", "1", "models.parquet")
    assert printed(downloads, "clones", "--min-size", "6", "models.parquet").startswith("0 blocks")
    quiet = printed(downloads, "dedup", "-q", "models.parquet")
    assert quiet.splitlines()[1:] == [
        "  downloads/base/model.onnx",
        "  downloads/mirror/model.onnx",
    ]


def test_names_of_files_cannot_disturb_the_terminal(tmp_path):
    write_model(tmp_path / "models" / "a\x1b[2J\n.onnx")
    write_model(tmp_path / "models" / "ä 名.onnx")
    printed(tmp_path, "index", "models", "-o", "i.parquet")
    lines = printed(tmp_path, "dedup", "i.parquet")
    assert "\x1b" not in lines and "ä 名.onnx" in lines
    assert len(lines.splitlines()) == 4
    names = {Path(row.path).name for row in corpus.CorpusIndex(tmp_path / "i.parquet")}
    assert names == {"a\x1b[2J\n.onnx", "ä 名.onnx"}


def test_links_out_of_a_folder_need_the_option(tmp_path):
    write_model(tmp_path / "models" / "a.onnx", external="w.bin")
    (tmp_path / "w.bin").write_bytes(bytes(8))
    (tmp_path / "models" / "w.bin").symlink_to("../w.bin")
    assert "1 failed" in printed(tmp_path, "index", "models", "-o", "i.parquet")
    assert "0 failed" in printed(tmp_path, "index", "--follow-links", "-o", "i.parquet")


def start_index(folder, *options):
    return subprocess.Popen(
        [sys.executable, "-m", "isoform", "index", "models", "-o", "i.parquet", *options],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A collection of several parts, its rows, and the time that its index takes."""
    folder = tmp_path_factory.mktemp("many")
    write_programs(folder / "models", scaled(60_000, 10_000))
    start = time.monotonic()
    printed(folder, "index", "models", "-o", "whole.parquet")
    return folder, rows_of(folder / "whole.parquet"), time.monotonic() - start


def remove(folder):
    (folder / "i.parquet").unlink(missing_ok=True)
    shutil.rmtree(folder / "i.parquet.partial", ignore_errors=True)


@pytest.mark.parametrize("signals", [[signal.SIGKILL], [signal.SIGINT], [signal.SIGTERM]])
def test_a_killed_update_is_completed_by_the_next_one(many, signals):
    folder, rows, duration = many
    remove(folder)
    for part in (0.1, 0.3, 0.5, 0.7, 0.9):
        with start_index(folder) as process:
            time.sleep(duration * part)
            process.send_signal(signals[0])
            process.wait(PATIENCE)
        if not (folder / "i.parquet").exists():
            assert command(folder, "stats", "i.parquet")[0] == 2
    told = json.loads(printed(folder, "index", "models", "-o", "i.parquet", "--json"))
    assert (told["rows"], told["failed"]) == (len(rows), 0)
    assert rows_of(folder / "i.parquet") == rows
    assert not (folder / "i.parquet.partial").exists()


def test_work_that_was_done_before_a_kill_is_kept(many):
    folder, rows, _ = many
    remove(folder)
    with start_index(folder, "--jobs", "1") as process:
        deadline = time.monotonic() + PATIENCE
        # A part is complete when the next one begins.
        while len(list((folder / "i.parquet.partial").glob("*.parquet"))) < 2:
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.001)
        process.kill()
    told = json.loads(printed(folder, "index", "models", "-o", "i.parquet", "--json"))
    assert told["kept"] >= 4096
    assert told["kept"] + told["read"] == told["rows"] == len(rows)
    assert rows_of(folder / "i.parquet") == rows


def test_a_killed_update_leaves_the_old_index(many):
    folder, rows, duration = many
    remove(folder)
    shutil.copy(folder / "whole.parquet", folder / "i.parquet")
    before = (folder / "i.parquet").read_bytes()
    age(*(folder.glob("models-*")))
    with start_index(folder) as process:
        time.sleep(duration / 2)
        process.kill()
    assert (folder / "i.parquet").read_bytes() == before
    printed(folder, "index", "-o", "i.parquet")
    assert rows_of(folder / "i.parquet") == rows


def test_a_full_disk_leaves_the_old_index(downloads):
    # A limit on the size of files takes the place of the full disk.
    for number in range(40):
        (downloads / "downloads" / f"{number}.onnx").write_bytes(
            model_bytes(name="x" * 4000 + str(number))
        )
    before = (downloads / "models.parquet").read_bytes()
    line = f"trap '' XFSZ; ulimit -f 8; exec {sys.executable} -m isoform index -o models.parquet"
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=downloads,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert ": cannot write the index: File too large" in done.stderr
    assert (downloads / "models.parquet").read_bytes() == before
    assert "45 rows" in printed(downloads, "index", "-o", "models.parquet")
