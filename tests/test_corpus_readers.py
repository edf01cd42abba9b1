"""Tools for data read indexes: DuckDB, pyarrow, pandas and Polars, as far as installed."""

import os
import sys

import pytest

pytest.importorskip("onnx", reason="onnx writes the models of these collections: not installed")
from corpora import as_dict, write_downloads, write_model, write_program

from isoform import corpus

MODELS = os.environ.get("ISOFORM_MODELS")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """An index with rows of all kinds: models, real ones too, IR files, failures."""
    folder = tmp_path_factory.mktemp("readers")
    write_downloads(folder)
    write_model(folder / "downloads" / "ä 名.onnx")
    write_program(folder / "downloads" / "program.iso")
    roots = [folder / "downloads", *([MODELS] if MODELS else [])]
    corpus.index(roots, folder / "i.parquet")
    return folder / "i.parquet"


def rows_of(index):
    rows = [as_dict(row) for row in corpus.CorpusIndex(index)]
    for row, whole in zip(rows, corpus.CorpusIndex(index), strict=True):
        row["stamp"] = whole.stamp
        row["blocks"] = [
            {"digest": digest, "nodes": nodes, "count": count}
            for digest, nodes, count in row["blocks"]
        ]
    assert any(row["blocks"] for row in rows) and any(row["error"] for row in rows)
    return rows


def test_duckdb_reads_what_python_reads(index):
    pytest.importorskip("duckdb")
    relation = corpus.sql(index, "SELECT * FROM files")
    told = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    assert told == rows_of(index)


def test_the_types_of_columns_are_those_of_the_page(index):
    pytest.importorskip("duckdb")
    relation = corpus.sql(index, "SELECT * FROM files")
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    counts, texts = "MAP(VARCHAR, UBIGINT)", "VARCHAR[]"
    assert types == {
        **dict.fromkeys(("path", "kind", "digest", "architecture", "error"), "VARCHAR"),
        **dict.fromkeys(("size", "stamp", "nodes", "parameters"), "UBIGINT"),
        **dict.fromkeys(("files", "inputs", "outputs"), texts),
        **dict.fromkeys(("operators", "opsets", "elements"), counts),
        "blocks": "STRUCT(digest VARCHAR, nodes UBIGINT, count UBIGINT)[]",
    }


@pytest.mark.parametrize("by", ["digest", "architecture"])
def test_sql_agrees_with_duplicates(index, by):
    pytest.importorskip("duckdb")
    query = f"SELECT {by}, list(path ORDER BY path) FROM files GROUP BY 1 HAVING count(*) > 1"
    told = {key: paths for key, paths in corpus.sql(index, query).fetchall() if key}
    opened = corpus.CorpusIndex(index)
    groups = {
        group.digest: sorted(row.path for row in group.rows) for group in opened.duplicates(by)
    }
    assert told == groups and groups


def test_sql_agrees_with_blocks_and_numbers(index):
    pytest.importorskip("duckdb")
    opened = corpus.CorpusIndex(index)
    query = """
        SELECT block.digest, sum(block.count), count(DISTINCT path)
        FROM (SELECT path, unnest(blocks) AS block FROM files) GROUP BY 1 HAVING count(DISTINCT path) > 1
    """
    told = {
        digest: (int(count), files) for digest, count, files in corpus.sql(opened, query).fetchall()
    }
    shared = opened.shared_blocks()
    assert shared
    assert told == {
        block.digest: (sum(count for _, count in block.files), len(block.files)) for block in shared
    }
    query = """
        SELECT key, count(*), sum(operators[key])
        FROM (SELECT operators, unnest(map_keys(operators)) AS key FROM files) GROUP BY 1
    """
    told = {key: (files, int(uses)) for key, files, uses in corpus.sql(opened, query).fetchall()}
    assert told == opened.statistics().operators


def test_a_folder_of_indexes_is_one_table(index, tmp_path):
    pytest.importorskip("duckdb")
    for name in ("0", "1"):
        (tmp_path / f"{name}.parquet").write_bytes(index.read_bytes())
    ((count,),) = corpus.sql(tmp_path, "SELECT count(*) FROM files").fetchall()
    assert count == 2 * len(corpus.CorpusIndex(index)) == len(corpus.CorpusIndex(tmp_path))


def test_names_with_the_letters_of_patterns_are_files(index, tmp_path):
    pytest.importorskip("duckdb")
    place = tmp_path / "models [v1]*?'.parquet"
    place.write_bytes(index.read_bytes())
    (tmp_path / "models vxx'.parquet").write_bytes(b"another file")
    ((count,),) = corpus.sql(place, "SELECT count(*) FROM files").fetchall()
    assert count == len(corpus.CorpusIndex(index))


def test_wrong_questions(index, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(duckdb.Error):
        corpus.sql(index, "SELECT nothing FROM files")
    with pytest.raises(OSError, match="missing"):
        corpus.sql(tmp_path / "missing.parquet", "SELECT 1")


def test_without_duckdb_the_message_says_what_to_install(index, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ImportError, match=r"pip install isoform\[corpus\]"):
        corpus.sql(index, "SELECT 1")


def test_pyarrow_reads_what_python_reads(index):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    told = parquet.read_table(index).to_pylist()
    for row in told:
        for name in ("operators", "opsets", "elements"):
            row[name] = dict(row[name])
    assert told == rows_of(index)


def test_pandas_reads_what_python_reads(index):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pandas reads Parquet by pyarrow: not installed")
    table = pandas.read_parquet(index)
    rows = rows_of(index)
    assert list(table["path"]) == [row["path"] for row in rows]
    assert [dict(pairs) for pairs in table["operators"]] == [row["operators"] for row in rows]
    assert [list(names) for names in table["inputs"]] == [row["inputs"] for row in rows]
    assert [list(blocks) for blocks in table["blocks"]] == [row["blocks"] for row in rows]


def test_polars_reads_what_python_reads(index):
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    told = polars.scan_parquet(index).collect().to_dicts()
    assert told == rows_of(index)
