"""Stores on real servers, which scripts/servers.py starts; skipped without them."""

import io
import json
import os
import pickle
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
import zipfile
from typing import Any

import pytest

from isoform import corpus, ir
from isoform._core import CorpusUpdate, read_corpus_files
from isoform.serialization import to_bytes
from isoform.store import EntryKey, Store, cached
from isoform.text import to_text

URLS = os.environ.get("ISOFORM_STORE_TEST_SERVERS", "").split()
COMMANDS = json.loads(os.environ.get("ISOFORM_STORE_TEST_COMMANDS", "{}"))
PATIENCE = 60

if not URLS:
    pytest.skip("no servers; run `make test-servers`", allow_module_level=True)


@pytest.fixture(params=URLS)
def url(request):
    return request.param


@pytest.fixture
def name():
    """A name that no earlier run has used."""
    return uuid.uuid4().hex


def test_values_and_entries_are_shared(url, name):
    store, other = Store.open(url), Store.open(url)
    data = name.encode() * 1000
    assert other.get(store.put(data)) == data
    key = EntryKey("compile", program=ir.PrimType("int8"), run=name)
    assert store.put_entry(key, b"code")
    assert not other.put_entry(key, b"late")
    assert other.entry(key, confirm=True).value == b"code"
    copy = pickle.loads(pickle.dumps(store))
    assert copy.entry(key).value == b"code"
    if url.startswith("redis"):
        with pytest.raises(OSError, match="cannot list"):
            store.sizes()
    else:
        assert store.find(run=name)
        assert store.verify()["damage"] == []


def test_functions_share_results(url, name):
    calls = []

    def width(program):
        calls.append(program)
        return str(program.dtype)

    kept = [cached(url, name=name)(width) for _ in range(2)]
    assert [one(ir.PrimType("int8")) for one in kept] == ["int8", "int8"]
    assert len(calls) == 1


def test_a_forked_child_uses_its_own_connection(url, name):
    store = Store.open(url)
    store.put(name.encode())
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if store.get(store.put(b"child")) == b"child" else 1
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.get(store.put(name.encode())) == name.encode()


def test_the_command_shares_runs(url, name, tmp_path):
    (tmp_path / "in").write_text(name)
    for folder, event in [("a", "miss"), ("b", "hit")]:
        command = ["cache", "run", "--store", url, "--key", "in", "--out", f"{folder}/out"]
        script = f"mkdir -p $(dirname {folder}/out); cp in {folder}/out"
        if event == "hit":
            # The command line is the same up to the place of the output.
            script = "mkdir -p $(dirname a/out); cp in a/out"
        done = subprocess.run(
            [sys.executable, "-m", "isoform", *command, "--", "sh", "-c", script],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith(f"isoform cache: {event} ")
        assert (tmp_path / folder / "out").read_text() == name


def put_object(url, name, data):
    """Put a file into the bucket of a server that checks no keys."""
    endpoint = url.partition("endpoint=")[2]
    target = f"{endpoint}/bucket/{name}"
    request = urllib.request.Request(target, data=data, method="PUT")
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        assert reply.status == 200


def test_a_bucket_is_indexed(url, name, tmp_path):
    if url.startswith("redis"):
        with pytest.raises(OSError, match="cannot list"):
            corpus.index(url, tmp_path / "redis.parquet")
        return
    programs: dict[str, Any] = {
        f"{name}/a.iso": ir.PrimType("int8"),
        f"{name}/sub/b.iso": ir.PrimType("int8"),
        f"{name}/sub/c.iso": ir.PrimType("int16"),
    }
    for path, program in programs.items():
        put_object(url, path, to_text(program).encode())
    put_object(url, f"{name}/note.txt", b"no program")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("deep/z.iso", to_text(ir.PrimType("int64")))
    put_object(url, f"{name}/zipped.whl", archive.getvalue())
    programs[f"{name}/zipped.whl/deep/z.iso"] = None
    root = url.replace("s3:bucket", f"s3:bucket/{name}")
    report = corpus.index(root, tmp_path / "i.parquet")
    assert (report.rows, report.read, report.failed) == (4, 4, 0)
    index = corpus.CorpusIndex(tmp_path / "i.parquet")
    paths = [row.path for row in index]
    assert paths == [f"s3:bucket/{path}" for path in programs]
    (group,) = index.duplicates()
    assert [row.path for row in group.rows] == paths[:2]

    report = corpus.index(root, tmp_path / "i.parquet")
    assert (report.kept, report.read) == (4, 0)
    # Others who read the files get the same rows.
    elsewhere = CorpusUpdate([root], tmp_path / "e.parquet")
    while (files := elsewhere.next_files(10, 1 << 20)) is not None:
        if files:
            elsewhere.push(read_corpus_files(files, follow_links=False))
    assert elsewhere.finish().rows == 4
    digests = [row.digest for row in corpus.CorpusIndex(tmp_path / "e.parquet")]
    assert digests == [row.digest for row in index]

    put_object(url, f"{name}/a.iso", to_text(ir.PrimType("int32")).encode())
    report = corpus.index(root, tmp_path / "i.parquet")
    assert (report.kept, report.read) == (3, 1)


def test_the_values_of_a_store_are_indexed(url, name, tmp_path):
    if url.startswith("redis"):
        return
    store = Store.open(f"{url}&prefix={name}")
    value = store.put(to_bytes(ir.PrimType("int8")))
    store.put(b"machine code")
    report = corpus.index(f"store:{url}&prefix={name}", tmp_path / "i.parquet")
    assert report.rows == 1
    (row,) = corpus.CorpusIndex(tmp_path / "i.parquet")
    assert row.path.endswith(value)
    assert row.kind == "binary"


class Server:
    """A server that can be killed and started again on its port."""

    def __init__(self, kind):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.command = [
            word.replace("{port}", str(self.port)) for word in COMMANDS[kind]["command"]
        ]
        self.url = COMMANDS[kind]["url"].replace("{port}", str(self.port))
        self.child = None

    def start(self):
        self.child = subprocess.Popen(
            self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def kill(self):
        self.child.kill()
        self.child.wait()


@pytest.mark.parametrize("kind", sorted(COMMANDS))
def test_a_server_that_dies_is_an_error_and_comes_back(kind, name):
    server = Server(kind)
    server.start()
    try:
        store = Store.open(server.url)
        kept = cached(store, name=name)(lambda a: a)
        assert store.get(store.put(b"before")) == b"before"
        assert kept(1) == 1
        server.kill()
        start = time.monotonic()
        with pytest.raises(OSError, match=r"127\.0\.0\.1"):
            store.put(b"during")
        assert time.monotonic() - start < 30
        # The function goes on, and the rest makes it fast.
        start = time.monotonic()
        assert [kept(number) for number in range(5)] == list(range(5))
        assert time.monotonic() - start < 5
        assert kept.cache_info().errors > 0
        server.start()
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                after = store.put(b"after")
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.5)
        assert store.get(after) == b"after"
        assert kept(1) == 1
    finally:
        server.kill()
