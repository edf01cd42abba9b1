"""Indexes that a Ray cluster makes; `make test-ray` runs the tests, others skip them."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from isoform import _corpus_ray, corpus, ir
from isoform.text import to_text

if "ISOFORM_TEST_RAY" not in os.environ:
    pytest.skip("no Ray; run `make test-ray`", allow_module_level=True)

import ray
from ray.cluster_utils import Cluster

ROOT = Path(__file__).resolve().parents[1]
MODELS = Path(os.environ["ISOFORM_MODELS"])
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """A folder with models, IR, archives, and files that cannot be read."""
    root = tmp_path_factory.mktemp("collection")
    shutil.copytree(MODELS, root / "models")
    models = sorted(MODELS.glob("*.onnx"))
    with zipfile.ZipFile(root / "models.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for model in models[:40]:
            archive.write(model, f"package/{model.name}")
    with zipfile.ZipFile(root / "stored.zip", "w") as archive:
        archive.write(models[-1], "stored.onnx")
    for number in range(60):
        text = to_text(ir.PrimType(["int8", "int16", "int32"][number % 3]))
        root.joinpath(f"type{number}.iso").write_text(text)
    root.joinpath("broken.onnx").write_bytes(models[0].read_bytes()[:50])
    root.joinpath("broken.zip").write_bytes(b"PK\x03\x04")
    root.joinpath("empty.safetensors").write_bytes(b"")
    root.joinpath("notes.md").write_text("no model")
    age(root.rglob("*"))
    return root


def age(paths):
    """Files that are as new as the index have no stamp, and would be read again."""
    moment = time.time() - 60
    for path in paths:
        os.utime(path, (moment, moment))


def facts(report):
    return report.rows, report.read, report.kept, report.failed, report.bytes


def rows_of(index):
    """All columns of all rows."""
    names = [name for name in dir(corpus.CorpusRow) if not name.startswith("_")]
    assert {"path", "stamp", "digest", "blocks", "error"} <= set(names)
    rows = []
    for row in corpus.CorpusIndex(index):
        values = {name: getattr(row, name) for name in names}
        values["blocks"] = [(block.digest, block.nodes, block.count) for block in row.blocks]
        rows.append(values)
    return rows


@pytest.fixture(scope="module")
def local(collection, tmp_path_factory):
    """The report and the rows of the local engine."""
    output = tmp_path_factory.mktemp("local") / "index.parquet"
    report = corpus.index([collection], output)
    rows = rows_of(output)
    assert report.rows == len(rows) > 200 and report.failed >= 3
    assert sum(".whl/" in row["path"] for row in rows) == 40
    return report, rows


@pytest.fixture
def small_batches(monkeypatch):
    """Many batches and rounds for few files."""
    for name, value in [
        ("_FIRST_FILES", 1),
        ("_FILES", 3),
        ("_FIRST_BATCHES", 2),
        ("_BATCHES", 40),
    ]:
        monkeypatch.setattr(_corpus_ray, name, value)


@pytest.fixture(scope="module")
def cluster():
    """Three nodes of one core each; the driver's own runs nothing."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(3):
        cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    ray.init(cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def check(collection, output, local, **options):
    report = corpus.index([collection], output, engine="ray", **options)
    assert facts(report) == facts(local[0])
    for row, expected in zip(rows_of(output), local[1], strict=True):
        assert row == expected
    assert not Path(f"{output}.partial").exists()


def test_a_cluster_of_its_own_makes_the_same_rows(collection, local, tmp_path, monkeypatch, capfd):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert not ray.is_initialized()
    reports = []
    check(collection, tmp_path / "a.parquet", local, jobs=2, progress=reports.append)
    assert not ray.is_initialized()
    assert facts(reports[-1]) == facts(local[0])
    assert [report.rows for report in reports] == sorted(report.rows for report in reports)
    assert "Dataset" not in "".join(capfd.readouterr())


def command(*words, **variables):
    process = subprocess.run(
        [sys.executable, "-m", "isoform", "index", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **variables},
    )
    return process.returncode, process.stdout, process.stderr


def test_ctrl_c_ends_the_command_and_its_cluster(collection, local, tmp_path):
    output = tmp_path / "a.parquet"
    words = [sys.executable, "-m", "isoform", "index", collection, "-o", output, "--engine", "ray"]
    with subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, text=True) as process:
        while not Path(f"{output}.partial").exists():
            time.sleep(0.05)
        # The cluster is about to start, which takes seconds.
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT and "Traceback" not in err, err
    assert not output.exists()
    corpus.index([collection], output)
    assert rows_of(output) == local[1]


def test_a_driver_outside_of_the_cluster(collection, local, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start = [Path(sys.executable).with_name("ray"), "start", "--head", "--block", "--port=0"]
    start += ["--num-cpus=2", f"--ray-client-server-port={port}", "--include-dashboard=false"]
    with subprocess.Popen(start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as head:
        try:
            output = tmp_path / "a.parquet"
            words = [collection, "-o", output, "--engine", f"ray://127.0.0.1:{port}", "--json"]
            for _ in range(3):
                status, out, err = command(*words)
                # On a busy machine, the process of a new driver may die before it serves.
                if "Initialization failure from server" not in err:
                    break
            assert status == 0, err
            report = json.loads(out)
            names = ["rows", "read", "kept", "failed", "bytes"]
            assert tuple(report[name] for name in names) == facts(local[0])
            assert rows_of(output) == local[1]
        finally:
            head.terminate()


def test_an_update_without_new_files_needs_no_cluster(collection, tmp_path, monkeypatch):
    monkeypatch.setattr(ray, "init", None)
    root = tmp_path / "good"
    shutil.copytree(collection, root, ignore=shutil.ignore_patterns("broken*", "empty*"))
    age(root.rglob("*"))
    output = tmp_path / "b.parquet"
    first = corpus.index([root], output)
    second = corpus.index([root], output, engine="ray")
    assert (second.rows, second.read, second.kept) == (first.rows, 0, first.rows)


def test_a_running_cluster_makes_the_same_rows(cluster, collection, local, tmp_path, small_batches):
    settings = ray.data.DataContext.get_current()
    before = settings.execution_options.preserve_order, settings.enable_progress_bars
    check(collection, tmp_path / "a.parquet", local)
    assert ray.is_initialized()
    settings = ray.data.DataContext.get_current()
    after = settings.execution_options.preserve_order, settings.enable_progress_bars
    assert before == after
    with pytest.raises(ValueError, match="address: expected None, as Ray is connected"):
        corpus.index([collection], tmp_path / "b.parquet", engine="ray", address="auto")


def test_a_dead_node_loses_no_rows(cluster, collection, local, tmp_path, small_batches):
    victim = cluster.add_node(num_cpus=2)
    cluster.wait_for_nodes()
    killed_at = []

    def kill(report):
        if report.read > 60 and not killed_at:
            killed_at.append(report.read)
            cluster.remove_node(victim, allow_graceful=False)

    check(collection, tmp_path / "a.parquet", local, progress=kill)
    # Most files were read after the death.
    assert killed_at and killed_at[0] < local[0].read / 2


def test_an_interrupted_update_goes_on(cluster, collection, local, tmp_path, small_batches):
    def interrupt(report):
        if report.read > 100:
            raise KeyboardInterrupt

    output = tmp_path / "a.parquet"
    with pytest.raises(KeyboardInterrupt):
        corpus.index([collection], output, engine="ray", progress=interrupt)
    assert ray.is_initialized() and not output.exists()
    report = corpus.index([collection], output, engine="ray")
    assert report.kept >= 90 and report.kept + report.read == local[0].read
    assert rows_of(output) == local[1]


def test_changed_files_are_read_again(cluster, collection, tmp_path):
    root = tmp_path / "root"
    shutil.copytree(collection, root)
    output = tmp_path / "a.parquet"
    age(root.rglob("*"))
    first = corpus.index([root], output)
    (root / "type0.iso").write_text(to_text(ir.PrimType("float64")))
    (root / "type1.iso").unlink()
    (root / "type60.iso").write_text(to_text(ir.PrimType("float32")))
    age([root / "type0.iso", root / "type60.iso"])
    report = corpus.index([root], output, engine="ray")
    # Files with an error are tried again.
    assert report.rows == first.rows and report.read <= 2 + first.failed
    corpus.index([root], tmp_path / "b.parquet")
    assert rows_of(output) == rows_of(tmp_path / "b.parquet")


def test_ray_groups_an_index(cluster, collection, local, tmp_path):
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    recipes = re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (recipe,) = [recipe for recipe in recipes if "groupby" in recipe]
    output = tmp_path / "models.parquet"
    corpus.index([collection], output)
    names = {"index": str(output)}
    exec(recipe, names)  # noqa: S102
    groups = {row["digest"]: row["count()"] for row in names["groups"].take_all()}
    expected = {group.digest: len(group) for group in corpus.CorpusIndex(output).duplicates()}
    assert groups == expected and len(groups) >= 3


def test_the_command_makes_the_same_rows(cluster, collection, local, tmp_path):
    local_output, output = tmp_path / "a.parquet", tmp_path / "b.parquet"
    _, expected, _ = command(collection, "-o", local_output, "--json")
    words = [collection, "-o", output, "--engine", "ray"]
    status, out, _ = command(*words, "--json", RAY_ADDRESS=cluster.address)
    assert (status, json.loads(out)) == (0, json.loads(expected))
    assert rows_of(output) == local[1]
    _, expected, _ = command(collection, "-o", local_output)
    status, out, _ = command(*words, RAY_ADDRESS=cluster.address)
    assert (status, out) == (0, expected.replace("a.parquet", "b.parquet"))
    status, out, err = command(tmp_path / "none", "-o", output, "--engine", "ray")
    assert (status, out) == (2, "") and "expected the roots of the index" in err
