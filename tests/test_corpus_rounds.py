"""The batches that the driver of a Ray cluster hands out, without a cluster."""

import itertools
import json
import sys
import threading
import time

import pytest

import isoform
from isoform import _corpus_ray, corpus
from isoform._corpus_ray import _BATCHES, _FILES, _FIRST_BATCHES, _FIRST_FILES, _read_batch, _rounds


class Walk:
    """An update over numbered files, which counts."""

    def __init__(self, files, kept=()):
        self.files = iter(range(files))
        self.kept = kept
        self.batches = 0

    def next_files(self, count, size):
        assert size > 0
        numbers = list(itertools.islice(self.files, count))
        if not numbers:
            return None
        self.batches += 1
        return [number for number in numbers if number not in self.kept]

    def report(self):
        return "report"


def nothing(report):
    pass


def test_rounds_have_all_files_in_order():
    rounds = list(_rounds(Walk(700_000), nothing))
    files = [file for batches in rounds for batch in batches for file in json.loads(batch)]
    assert files == list(range(700_000))
    assert [len(batches) for batches in rounds[:3]] == [64, 128, 256]
    assert max(len(batches) for batches in rounds) == _BATCHES
    assert max(len(json.loads(batch)) for batches in rounds for batch in batches) == _FILES


def test_one_round_is_listed_ahead():
    walk = Walk(10**9)
    rounds = _rounds(walk, nothing)
    given = 0
    for _ in range(6):
        given += len(next(rounds))
        time.sleep(0.1)
        assert walk.batches <= given + _BATCHES
    rounds.close()
    assert threading.active_count() == 1


def test_unchanged_files_are_left_out():
    kept = range(10, 100_000)
    rounds = list(_rounds(Walk(100_010, kept), nothing))
    files = [file for batches in rounds for batch in batches for file in json.loads(batch)]
    assert files == [*range(10), *range(100_000, 100_010)]
    assert all(json.loads(batch) for batches in rounds for batch in batches)


def test_a_collection_without_files_has_no_round():
    assert list(_rounds(Walk(0), nothing)) == []
    assert list(_rounds(Walk(1000, range(1000)), nothing)) == []


def test_progress_is_told_while_files_are_listed():
    class Slow(Walk):
        def next_files(self, count, size):
            time.sleep(0.5)
            return super().next_files(count, size)

    reports = []
    assert list(_rounds(Slow(1), reports.append)) == [["[0]"]]
    assert len(reports) >= 3 and set(reports) == {"report"}


def test_an_error_of_progress_ends_the_listing():
    class Endless(Walk):
        def next_files(self, count, size):
            time.sleep(0.01)
            return []

    def fail(report):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        list(_rounds(Endless(0), fail))
    assert threading.active_count() == 1


def test_an_error_of_the_listing_is_raised():
    class Broken(Walk):
        def next_files(self, count, size):
            raise OSError("no folder")

    with pytest.raises(OSError, match="no folder"):
        list(_rounds(Broken(0), nothing))


def test_first_rounds_are_small():
    assert _FIRST_BATCHES * _FIRST_FILES <= 1024


def test_nodes_have_the_same_version():
    with pytest.raises(RuntimeError, match=rf"expected version 0\.0, .* got {isoform.__version__}"):
        _read_batch({"files": "[]"}, follow_links=False, version="0.0")


def test_without_ray(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install isoform\[ray\]"):
        corpus.index([tmp_path], tmp_path / "index.parquet", engine="ray")
    # No trace of the attempt is left.
    assert list(tmp_path.iterdir()) == []


def test_use_is_not_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    for before, after in [(None, "0"), ("1", "1")]:
        monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
        if before is not None:
            monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", before)
        with pytest.raises(ImportError):
            _corpus_ray._import_ray()
        assert __import__("os").environ["RAY_USAGE_STATS_ENABLED"] == after
