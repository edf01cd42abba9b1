"""Indexes of collections in Python: rows, updates, questions and failures."""

import os
import shutil
import struct
import threading
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="onnx writes the models of these collections: not installed")
from corpora import age, as_dict, model_bytes, numbers, rows_of, write_model, write_program
from processes import output_of
from scale import scaled

from isoform import corpus
from isoform.store import Store

MODELS = os.environ.get("ISOFORM_MODELS")
needs_models = pytest.mark.skipif(MODELS is None, reason="ISOFORM_MODELS names no folder of models")


def by_name(index):
    return {Path(row.path).name: row for row in corpus.CorpusIndex(index)}


def write_floats(path, *values):
    path.write_bytes(struct.pack(f"<{len(values)}f", *values))
    age(path)


@pytest.fixture
def models(tmp_path):
    """Equal programs, another one, a renamed one, broken files, and files of other programs."""
    folder = tmp_path / "models"
    write_model(folder / "a.onnx")
    write_model(folder / "deep" / "renamed.onnx", name="other")
    write_model(folder / "tuned.onnx", (1.0, 3.0))
    write_model(folder / "mul.onnx", operator="Mul")
    write_model(folder / "external.onnx", external="w.bin")
    write_floats(folder / "w.bin", 1, 2)
    write_program(folder / "program.iso")
    (folder / "cut.onnx").write_bytes(model_bytes()[:-3])
    write_model(folder / "alone.onnx", external="missing.bin")
    (folder / "config.json").write_text('{"hidden_size": 4}')
    (folder / "notes.md").write_text("not a model")
    age(folder / "cut.onnx")
    return folder


@pytest.fixture
def index(models, tmp_path):
    corpus.index(models, tmp_path / "i.parquet")
    return tmp_path / "i.parquet"


def test_rows_tell_what_the_files_are(models, index):
    rows = by_name(index)
    names = ["a", "alone", "cut", "external", "mul", "renamed", "tuned"]
    assert set(rows) == {*(f"{name}.onnx" for name in names), "program.iso"}
    row = rows["a.onnx"]
    assert row.path == f"{models}/a.onnx"
    assert row.size == (models / "a.onnx").stat().st_size
    assert (row.kind, row.nodes, row.parameters, row.error) == ("onnx", 1, 2, None)
    assert row.operators == {"Add": 1}
    assert row.opsets == {"ai.onnx": 17}
    assert row.elements == {"float32": 2}
    assert (row.inputs, row.outputs) == (["x: float32[2]"], ["y: float32[2]"])
    assert rows["external.onnx"].files == ["w.bin"]
    assert rows["external.onnx"].digest == row.digest == rows["renamed.onnx"].digest
    assert rows["tuned.onnx"].digest != row.digest
    assert rows["tuned.onnx"].architecture == row.architecture
    assert rows["mul.onnx"].architecture != row.architecture
    assert (rows["program.iso"].kind, rows["program.iso"].operators) == (
        "text",
        {"ir.GlobalVar": 1},
    )


def test_a_file_that_cannot_be_read_has_a_row_with_the_reason(index):
    rows = by_name(index)
    assert "missing.bin" in rows["alone.onnx"].error
    assert rows["cut.onnx"].error
    for name in ("alone.onnx", "cut.onnx"):
        row = rows[name]
        assert (row.kind, row.digest, row.architecture, row.nodes) == (None,) * 4
        assert row.size > 0
        assert row.error in repr(row)


def test_questions(models, index):
    opened = corpus.CorpusIndex(index)
    assert (len(opened), opened.roots, opened.path) == (8, [str(models)], str(index))
    names = lambda group: [Path(row.path).name for row in group.rows]  # noqa: E731
    (group,) = opened.duplicates()
    assert names(group) == ["a.onnx", "renamed.onnx", "external.onnx"]
    (group,) = opened.duplicates("architecture")
    assert names(group) == ["a.onnx", "renamed.onnx", "external.onnx", "tuned.onnx"]
    assert group.digest == group.rows[0].architecture
    row = by_name(index)["a.onnx"]
    assert len(opened.find(row.digest)) == len(opened.find(row.digest[:8].upper())) == 3
    assert len(opened.find(row.architecture)) == 4
    assert opened.find("0" * 64) == []
    told = opened.statistics()
    assert (told.files, told.failed, told.programs, told.architectures) == (8, 2, 4, 3)
    assert told.bytes == sum(row.size for row in opened)
    assert told.operators == {"Add": (4, 4), "Mul": (1, 1), "ir.GlobalVar": (1, 1)}
    assert (told.kinds["onnx"][0], told.elements) == (5, {"float32": 10})
    assert told.opsets == {("ai.onnx", 17): 5}


def test_an_update_reads_the_files_that_changed(models, tmp_path, index):
    # Failures are read again: what was missing may be there.
    assert numbers(corpus.index(models, index)) == (8, 3, 6, 2)
    write_model(models / "a.onnx", (5.0, 6.0))
    (models / "mul.onnx").unlink()
    write_model(models / "deep" / "new.onnx", operator="Sub")
    before = by_name(index)
    report = corpus.index([], index)
    assert numbers(report) == (8, 5, 4, 2)
    rows = by_name(index)
    assert set(before) - set(rows) == {"mul.onnx"}
    assert rows["a.onnx"].digest != before["a.onnx"].digest
    for name in ("renamed.onnx", "tuned.onnx", "external.onnx", "program.iso"):
        assert as_dict(rows[name]) == as_dict(before[name])
    corpus.index(models, tmp_path / "anew.parquet")
    assert rows_of(index) == rows_of(tmp_path / "anew.parquet")
    assert not Path(f"{index}.partial").exists()


def test_external_data_that_changed_changes_the_row(models, index):
    before = by_name(index)
    write_floats(models / "w.bin", 1, 3)
    assert corpus.index([], index).kept == 5
    rows = by_name(index)
    assert rows["external.onnx"].digest == before["tuned.onnx"].digest
    write_floats(models / "missing.bin", 1, 2)
    assert corpus.index([], index).failed == 1
    assert by_name(index)["alone.onnx"].digest == before["a.onnx"].digest
    (models / "w.bin").unlink()
    assert corpus.index([], index).failed == 2
    assert "w.bin" in by_name(index)["external.onnx"].error


@pytest.mark.parametrize("follow_links", [False, True])
def test_external_data_behind_a_link_to_another_file_changes_the_row(tmp_path, follow_links):
    models, output = tmp_path / "models", tmp_path / "i.parquet"
    targets = tmp_path / "blobs" if follow_links else models
    targets.mkdir()
    models.mkdir(exist_ok=True)
    write_floats(targets / "v1.bin", 1, 2)
    write_floats(targets / "v2.bin", 1, 3)
    write_model(models / "m.onnx", external="w.bin")
    (models / "w.bin").symlink_to(targets / "v1.bin")
    age(models / "m.onnx", targets / "v1.bin", targets / "v2.bin")
    corpus.index(models, output, follow_links=follow_links)
    (before,) = corpus.CorpusIndex(output)
    assert before.files == ["w.bin"]
    assert corpus.index(models, output, follow_links=follow_links).kept == 1
    (models / "w.bin").unlink()
    (models / "w.bin").symlink_to(targets / "v2.bin")
    assert corpus.index(models, output, follow_links=follow_links).kept == 0
    (after,) = corpus.CorpusIndex(output)
    assert after.digest != before.digest


def test_relative_roots_belong_to_their_folder(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    write_program(tmp_path / "a" / "x.iso")
    write_program(tmp_path / "y.iso")
    monkeypatch.chdir(tmp_path / "a")
    corpus.index(".", "../i.parquet")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="relative to another folder"):
        corpus.index([], "i.parquet")
    assert len(corpus.CorpusIndex("i.parquet")) == 1
    monkeypatch.chdir(tmp_path / "a")
    assert corpus.index([], "../i.parquet").rows == 1


@pytest.mark.parametrize("kind", ["zip", "whl"])
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_is_a_folder(models, tmp_path, index, kind, compression):
    archive = tmp_path / "in" / f"models.{kind}"
    archive.parent.mkdir()
    with zipfile.ZipFile(archive, "w", compression) as written:
        for file in sorted(models.rglob("*")):
            written.write(file, f"pack/{file.relative_to(models)}")
    age(archive)
    output = tmp_path / "archive.parquet"
    assert numbers(corpus.index(archive.parent, output)) == (8, 9, 0, 2)
    inside, outside = by_name(output), by_name(index)
    for name, row in outside.items():
        assert inside[name].digest == row.digest, name
        assert inside[name].path == f"{archive}/pack{row.path.removeprefix(str(models))}"
        assert (inside[name].error is None) == (row.error is None)
    assert numbers(corpus.index([], output))[2] >= 5
    # Each file of an archive that was written again counts as changed.
    with zipfile.ZipFile(archive, "a") as written:
        written.writestr("more.onnx", model_bytes())
    age(archive)
    assert numbers(corpus.index([], output)) == (9, 10, 0, 2)


def test_an_archive_within_an_archive_is_not_entered(models, tmp_path):
    inner, outer = tmp_path / "inner.zip", tmp_path / "in" / "outer.zip"
    outer.parent.mkdir()
    for archive, file in [(inner, models / "a.onnx"), (outer, inner)]:
        with zipfile.ZipFile(archive, "w") as written:
            written.write(file, file.name)
            written.writestr("b.onnx", model_bytes())
    corpus.index(outer.parent, tmp_path / "i.parquet")
    assert list(by_name(tmp_path / "i.parquet")) == ["b.onnx"]


def test_a_damaged_archive_is_a_row(tmp_path):
    folder = tmp_path / "models"
    write_model(folder / "z.onnx")
    (folder / "a.zip").write_bytes(b"PK\x03\x04 and no more")
    report = corpus.index(folder, tmp_path / "i.parquet")
    assert (report.rows, report.failed) == (2, 1)
    first, second = corpus.CorpusIndex(tmp_path / "i.parquet")
    assert first.path.endswith("a.zip") and "archive" in first.error
    assert second.error is None


def test_links_like_those_of_a_cache_of_downloads(tmp_path):
    """Snapshots are links to files that are named by their contents."""
    hub = tmp_path / "hub"
    blobs, snapshot = hub / "blobs", hub / "snapshots" / "1a2b"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    (blobs / "aaaa").write_bytes(model_bytes(external="model.onnx_data"))
    write_floats(blobs / "bbbb", 1, 2)
    age(blobs / "aaaa")
    for blob, name in [("aaaa", "model.onnx"), ("bbbb", "model.onnx_data")]:
        (snapshot / name).symlink_to(Path("..", "..", "blobs", blob))
    output = tmp_path / "i.parquet"
    assert corpus.index(hub, output).failed == 1
    (row,) = corpus.CorpusIndex(output)
    assert "model.onnx_data" in row.error and "link" in row.error
    assert numbers(corpus.index(hub, output, follow_links=True)) == (1, 1, 0, 0)
    (row,) = corpus.CorpusIndex(output)
    assert row.path == f"{snapshot}/model.onnx"
    assert row.parameters == 2
    # The data that the link names counts.
    assert numbers(corpus.index(hub, output, follow_links=True)) == (1, 0, 1, 0)
    write_floats(blobs / "bbbb", 1, 3)
    digest = row.digest
    assert numbers(corpus.index(hub, output, follow_links=True)) == (1, 1, 0, 0)
    (row,) = corpus.CorpusIndex(output)
    assert row.digest != digest


def test_the_values_of_a_store_are_files(tmp_path):
    store = Store.open(tmp_path / "store")
    name = store.put(model_bytes())
    store.put(b"not a model")
    output = tmp_path / "i.parquet"
    corpus.index([f"store:{tmp_path / 'store'}"], output)
    (row,) = corpus.CorpusIndex(output)
    assert row.path.endswith(f"/{name}") and row.kind == "onnx"
    assert corpus.index([], output).kept == 1


def test_files_of_weights(tmp_path):
    np = pytest.importorskip("numpy")
    weights = pytest.importorskip("safetensors.numpy", reason="safetensors writes the file")
    folder = tmp_path / "weights"
    folder.mkdir()
    tensors = {"a": np.ones((2, 3), np.float32), "b": np.zeros(5, np.int8)}
    weights.save_file(tensors, folder / "a.safetensors")
    weights.save_file(dict(tensors, b=np.ones(5, np.int8)), folder / "b.safetensors")
    corpus.index(folder, tmp_path / "i.parquet")
    first, second = corpus.CorpusIndex(tmp_path / "i.parquet")
    assert (first.kind, first.parameters) == ("safetensors", 11)
    assert first.elements == {"float32": 6, "int8": 5}
    assert first.digest != second.digest
    assert first.architecture == second.architecture


@needs_models
def test_real_models_give_the_same_rows_by_any_number_of_threads(tmp_path):
    for jobs in (1, 2, 7):
        corpus.index(MODELS, tmp_path / f"{jobs}.parquet", jobs=jobs)
    rows = rows_of(tmp_path / "1.parquet")
    assert len(rows) >= 100 and all(row["error"] is None for row in rows)
    assert rows == rows_of(tmp_path / "2.parquet") == rows_of(tmp_path / "7.parquet")
    told = corpus.CorpusIndex(tmp_path / "1.parquet").statistics()
    assert told.files == len(rows)
    assert told.programs == len({row["digest"] for row in rows})
    assert told.architectures == len({row["architecture"] for row in rows})


@needs_models
def test_blocks_of_real_models(tmp_path):
    corpus.index(MODELS, tmp_path / "i.parquet")
    index = corpus.CorpusIndex(tmp_path / "i.parquet")
    rows = {row.path: row for row in index}
    shared = index.shared_blocks()
    assert shared
    for block in shared:
        assert len(block.files) > 1
        for path, count in block.files:
            of_file = [part for part in rows[path].blocks if part.digest == block.digest]
            assert sum(part.count for part in of_file) == count
        matches = index.find(block.digest)
        assert sorted(row.path for row in matches) == sorted(path for path, _ in block.files)


def test_progress_tells_numbers_and_its_exception_ends_the_update(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    for number in range(scaled(20_000, 3000)):
        (folder / f"{number:06}.iso").write_text("%x = ir.GlobalVar()\n%x\n")
    age(*folder.iterdir())
    output = tmp_path / "i.parquet"
    told = []

    def stop(report):
        told.append(report)
        if report.read:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        corpus.index(folder, output, progress=stop)
    assert told[-1].read > 0 and not output.exists()
    report = corpus.index(folder, output)
    assert report.kept >= told[-1].read
    assert report.kept + report.read == report.rows == len(list(folder.iterdir()))
    assert report.failed == 0


def test_two_updates_do_not_meet(models, tmp_path):
    output = tmp_path / "i.parquet"
    entered, left = threading.Event(), threading.Event()

    def wait(report):
        entered.set()
        left.wait(60)

    for number in range(scaled(40_000, 4000)):
        (models / f"{number:06}.iso").write_text("%x = ir.GlobalVar()\n%x\n")
    thread = threading.Thread(target=corpus.index, args=(models, output), kwargs={"progress": wait})
    thread.start()
    assert entered.wait(60)
    try:
        with pytest.raises(ValueError, match="another process updates the index"):
            corpus.index(models, output)
    finally:
        left.set()
        thread.join()
    assert len(corpus.CorpusIndex(output)) > 4000


def test_ctrl_c_ends_an_update_and_the_next_one_continues(tmp_path):
    code = f"""
import _thread, pathlib, signal, threading
from isoform import corpus
signal.signal(signal.SIGINT, signal.default_int_handler)
folder, output = pathlib.Path({str(tmp_path / "models")!r}), {str(tmp_path / "i.parquet")!r}
folder.mkdir()
for number in range({scaled(20_000, 4000)}):
    (folder / f"{{number:06}}.iso").write_text("%x = ir.GlobalVar()\\n%x\\n")
try:
    corpus.index(folder, output, progress=lambda report: signal.raise_signal(signal.SIGINT))
except KeyboardInterrupt:
    print("interrupted", pathlib.Path(output).exists())
print(corpus.index(folder, output).rows)
"""
    assert output_of(code).split("\n")[:2] == ["interrupted False", str(scaled(20_000, 4000))]


OTHER_ROOTS = 'expected the roots of the index, ["models"], got ["other"]; choose another file'


@pytest.mark.parametrize(
    ("roots", "output", "options", "error", "message"),
    [
        ("other", "i.parquet", {}, ValueError, OTHER_ROOTS),
        ([], "new.parquet", {}, ValueError, "expected a folder or file to index, got none"),
        ("models", "models/notes.md", {}, ValueError, "expected an index or no file, got another"),
        ("models", "models", {}, ValueError, "expected the name of a file, got a folder"),
        ("models", "models/notes.md/x.parquet", {}, OSError, "cannot write the index"),
        ("models", "x.parquet", {"jobs": 0}, ValueError, "jobs: expected a positive number, got 0"),
        (
            "models",
            "x.parquet",
            {"engine": "dask"},
            ValueError,
            "engine: expected 'local' or 'ray'",
        ),
        ("models", "x.parquet", {"address": "a"}, ValueError, "address: expected the engine 'ray'"),
        (7, "x.parquet", {}, TypeError, "roots: expected paths, got int"),
        ([7], "x.parquet", {}, TypeError, "expected str, bytes or os.PathLike object, not int"),
    ],
)
def test_wrong_arguments(models, index, monkeypatch, roots, output, options, error, message):
    monkeypatch.chdir(models.parent)
    index.unlink()
    corpus.index("models", "i.parquet")
    before = sorted(Path().rglob("*"))
    with pytest.raises(error) as raised:
        corpus.index(roots, output, **options)
    assert message in str(raised.value)
    # The attempt leaves no file.
    assert sorted(Path().rglob("*")) == before


def test_what_is_not_an_index(models, index, tmp_path):
    for path, error, message in [
        (tmp_path / "missing.parquet", OSError, "missing.parquet"),
        (models, ValueError, "expected an index, got a folder without Parquet files"),
        (
            models / "notes.md",
            ValueError,
            "notes.md: expected an index of 'isoform index', got a file",
        ),
    ]:
        with pytest.raises(error) as raised:
            corpus.CorpusIndex(path)
        assert message in str(raised.value)
    opened = corpus.CorpusIndex(index)
    for digits in ("1234567", "not hexadecimal", "0" * 65):
        with pytest.raises(ValueError, match="8 to 64 hexadecimal digits of a digest, got"):
            opened.find(digits)
    with pytest.raises(ValueError, match="by: expected 'digest' or 'architecture', got \"path\""):
        opened.duplicates("path")
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(index.read_bytes()[:-100])
    with pytest.raises(OSError, match="cannot read the index"):
        corpus.CorpusIndex(cut)


def test_a_missing_root_is_an_error(tmp_path):
    with pytest.raises(OSError, match="gone: cannot read this root: No such file"):
        corpus.index([tmp_path / "gone"], tmp_path / "i.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_indexes_is_an_index(models, index, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    shutil.copy(index, parts / "0.parquet")
    write_model(tmp_path / "more" / "b.onnx")
    corpus.index(tmp_path / "more", parts / "1.parquet")
    opened = corpus.CorpusIndex(parts)
    assert (len(opened), opened.roots) == (9, [])
    assert len(opened.duplicates()[0]) == 4


MEASURE = """
import resource, sys
from isoform import corpus
report = corpus.index({root!r}, {output!r}, jobs=2)
assert report.failed == 0, report
print(report.rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.parametrize("length", [10, 100_000])
def test_memory_does_not_grow_with_the_collection(tmp_path, length):
    """Few models under many names: only rows could fill the memory."""
    count = scaled(20_000 if length < 1000 else 4000, 2000)
    model = write_model(tmp_path / "model", name="x" * length)
    peaks = []
    for name, files in (("few", 500), ("many", count)):
        root, output = tmp_path / name, tmp_path / f"{name}.parquet"
        root.mkdir()
        for number in range(files):
            (root / f"{number:06}.onnx").hardlink_to(model)
        rows, peak = output_of(MEASURE.format(root=str(root), output=str(output))).split()
        assert int(rows) == files
        peaks.append(int(peak))
    # In KiB. The rows of the larger collection of long names need 200 MB and more.
    assert peaks[1] - peaks[0] < 80_000, peaks
