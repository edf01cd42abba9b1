"""Stores from Python."""

import itertools
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from datetime import timedelta

import pytest
from processes import output_of

import isoform
from isoform import ir
from isoform.store import Entry, EntryKey, Store
from isoform.transform import PassContext, StoreCache, function_pass

HELLO = "ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f"


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store") as opened:
        yield opened


@pytest.mark.parametrize("data", [b"hello", bytearray(b"hello"), memoryview(b"hello")])
def test_bytes_come_back_under_their_name(store, data):
    assert store.put(data) == HELLO
    assert store.get(HELLO) == b"hello"
    assert store.contains(HELLO)
    assert store.list()[0][:3] == ("value", HELLO, 61)
    assert store.remove(HELLO)
    assert not store.remove(HELLO)
    assert store.get(HELLO) is None
    assert not store.contains(HELLO)


def test_entries_come_back_with_everything(store):
    program = ir.PrimType("int8")
    key = EntryKey("compile", program=program, version="1", level=2, fast=True)
    assert key.parts == {
        "job": "compile",
        "program": isoform.structural_digest(program).hex(),
        "version": "1",
        "option.level": "2",
        "option.fast": "True",
    }
    assert store.entry(key) is None
    assert store.put_entry(key, b"code", metadata={"host": "a"})
    assert not store.put_entry(key, b"late")
    entry = store.entry(key)
    assert isinstance(entry, Entry)
    assert (entry.value, entry.metadata, entry.key) == (b"code", {"host": "a"}, key.parts)
    assert abs(entry.created - time.time()) < 600
    assert not entry.is_failure
    # The program of the key is kept.
    assert isoform.structural_equal(
        isoform.serialization.from_bytes(store.get(entry.program)), program
    )
    assert store.find(job="compile", level=2) == [(key.digest, key.parts)]
    assert store.find(level=3) == []
    assert store.remove_entry(key)
    assert store.entry(key) is None


def test_equal_keys_are_equal():
    one = EntryKey("a", x=1, program=ir.PrimType("int8"))
    other = EntryKey("a", program=isoform.structural_digest(ir.PrimType("int8")), x=1)
    third = EntryKey("a", program=isoform.structural_digest(ir.PrimType("int8")).hex(), x=1)
    assert one == other == third
    assert len({one, other, third}) == 1
    assert one != EntryKey("a", x=2)
    assert one != "a"
    assert "option.x" in repr(one)


def test_hits_are_confirmed_by_the_program(store):
    # A key that forgets its program.
    key = EntryKey("compile")
    store.put_entry(key, b"code", program=ir.PrimType("int8"))
    assert store.entry(key, confirm=ir.PrimType("int8")).value == b"code"
    assert store.entry(key, confirm=ir.PrimType("int16")) is None
    assert store.statistics()["unconfirmed"] == 1
    assert store.entry(key, confirm=False).value == b"code"
    full = EntryKey("compile", program=ir.PrimType("int8"))
    store.put_entry(full, b"code")
    assert store.entry(full, confirm=True).value == b"code"
    with pytest.raises(ValueError, match="the key has no program; pass program=node"):
        store.entry(key, confirm=True)


def test_renamed_programs_are_confirmed(store):
    def function(name):
        var = isoform.relay.Var(name)
        return isoform.relay.Function([var], var)

    key = EntryKey("compile", program=function("x"))
    store.put_entry(key, b"code")
    assert store.entry(EntryKey("compile", program=function("y")), confirm=True).value == b"code"


def test_sizes_verification_and_eviction(store, tmp_path):
    names = [store.put(bytes([number]) * 1000) for number in range(5)]
    assert store.sizes() == {
        "values": {"files": 5, "bytes": 5280},
        "entries": {"files": 0, "bytes": 0},
    }
    file = tmp_path / "store" / "values" / names[0][:2] / names[0][2:]
    file.write_bytes(b"torn")
    report = store.verify()
    assert (report["whole"], len(report["damage"]), report["removed"]) == (4, 1, 0)
    assert store.verify(repair=True)["removed"] == 1
    assert store.verify()["damage"] == []
    assert store.evict(max_count=1)["kept"]["files"] == 1
    assert store.evict(max_bytes=0)["kept"] == {"files": 0, "bytes": 0}
    assert store.evict(max_age=timedelta(days=1))["removed"]["files"] == 0
    assert store.evict(max_age=0.5)["removed"]["files"] == 0


def test_a_put_evicts_beyond_the_limits(tmp_path):
    store = Store.open(tmp_path, max_bytes=5000, max_age=3600, max_count=100)
    for number in range(20):
        store.put(bytes([number]) * 1000)
    assert store.sizes()["values"]["bytes"] <= 5000


def test_a_closed_store_says_so(tmp_path):
    with Store.open(tmp_path) as store:
        assert ", closed" not in repr(store)
    assert repr(store) == "<Store, closed>"
    with pytest.raises(ValueError, match=r"the store is closed; open it again with Store\.open"):
        store.put(b"")


def test_pickles_hold_the_place_and_the_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store.open("relative", max_bytes=10**9, max_age=60, durable=True)
    name = store.put(b"hello")
    monkeypatch.chdir("/")
    copy = pickle.loads(pickle.dumps(store))
    assert copy.get(name) == b"hello"
    reader = Store.open(tmp_path / "relative", read_only=True)
    with pytest.raises(OSError, match="read-only; open it without `read_only`"):
        pickle.loads(pickle.dumps(reader)).put(b"")
    with pytest.raises(TypeError, match="a store in memory belongs to its process"):
        pickle.dumps(Store.open("memory:"))
    remote = Store.open("redis://me:secret@127.0.0.1:1?prefix=p")
    pickled = pickle.dumps(remote)
    assert b"secret" not in pickled
    assert pickle.loads(pickled).url == "redis://127.0.0.1:1?prefix=p"
    assert "secret" not in repr(remote)


def test_a_handle_works_in_a_forked_child(store):
    name = store.put(b"hello")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            same = store.get(name) == b"hello"
            other = store.put(b"child")
            status = 0 if same and store.get(other) and store.sizes()["values"]["files"] else 1
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.get(store.put(b"child")) == b"child"
    assert store.sizes()["values"]["files"] == 2


@pytest.mark.parametrize("url", ["folder", "memory:"])
def test_a_fork_while_threads_use_the_store(tmp_path, url):
    store = Store.open(url if url == "memory:" else tmp_path)
    ended = threading.Event()

    def use(thread):
        for number in itertools.count():
            if ended.is_set():
                return
            key = EntryKey("a", thread=thread, number=number % 20)
            store.put_entry(key, b"b")
            store.remove_entry(key)
            # The locks of SQLite are not fair: a child could wait as long as threads never rest.
            time.sleep(0.002)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(30):
            child = os.fork()
            if child == 0:
                # A child that waits forever is killed by this alarm.
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(30)
                store.put(b"%d" % number)
                store.sizes()
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, number
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _put(store, number):
    return store.put(b"%d" % number)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_share_a_store(store, method):
    context = multiprocessing.get_context(method)
    store.put(b"open")
    with context.Pool(2) as pool:
        names = pool.starmap(_put, [(store, number) for number in range(8)])
    assert [store.get(name) for name in names] == [b"%d" % number for number in range(8)]


def test_passes_keep_their_results(store):
    @function_pass(opt_level=0, pure=True, version="1")
    def Mark(function, mod, ctx):  # noqa: N802
        return function.with_attr("marked", 1)

    for hits in range(3):
        with PassContext(cache=StoreCache(store)):
            mod = Mark(ir.IRModule({"f": ir.BaseFunc()}))
        assert mod["f"].attrs["marked"] == 1
        assert (store.statistics()["hits"] > 0) == (hits > 0)
    assert store.find(job="pass")


def test_ctrl_c_ends_a_verification(tmp_path):
    code = f"""
        import signal, sys, threading, os, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from isoform.store import Store
        store = Store.open({str(tmp_path)!r})
        for number in range(4):
            store.put(bytes([number]) * (1 << 25))
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                store.verify()
        except KeyboardInterrupt:
            print("interrupted")
        print(store.get(store.put(b"hello")))
    """
    assert output_of(textwrap.dedent(code)) == "interrupted\nb'hello'\n"


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("", ValueError, "expected a path, got an empty text"),
        ("ftp://user:secret@host", ValueError, 'store URL "ftp": the scheme is unknown;'),
        ("memory:x", ValueError, "a store in memory has no path"),
        ("s3:", ValueError, "bucket"),
        ("s3:b?colour=red", ValueError, "expected an option of bucket"),
        ("file://host/a", ValueError, "another host"),
        ("/dev/null", OSError, "store folder /dev/null: .*give the path of a folder"),
    ],
)
def test_wrong_urls_are_refused(url, error, message, monkeypatch):
    monkeypatch.delenv("ISOFORM_STORE_BUCKET", raising=False)
    monkeypatch.delenv("SCCACHE_BUCKET", raising=False)
    with pytest.raises(error, match=message) as caught:
        Store.open(url)
    assert "secret" not in str(caught.value)


def test_wrong_input_is_refused(store, tmp_path):
    with pytest.raises(ValueError, match='expected a name of 64 hexadecimal digits, got "abc"'):
        store.get("abc")
    with pytest.raises(ValueError, match="expected a digest of 32 bytes, got 3 bytes"):
        EntryKey("a", program=b"abc")
    with pytest.raises(ValueError, match="expected a name of 64 hexadecimal digits"):
        EntryKey("a", program="abc")
    with pytest.raises(TypeError, match='option "x": expected text, a number, bool or None'):
        EntryKey("a", x=[])
    with pytest.raises(TypeError):
        EntryKey("a", program=lambda: None)
    with pytest.raises(TypeError):
        store.put("text")
    with pytest.raises(ValueError, match="max_age -1"):
        store.evict(max_age=-1)
    with pytest.raises(OSError, match=r"store folder .*: No such file"):
        Store.open(tmp_path / "none", read_only=True)
    reader = Store.open(tmp_path / "store", read_only=True)
    for change in [lambda: reader.put(b""), lambda: reader.remove(HELLO), reader.evict]:
        with pytest.raises(OSError, match="is read-only"):
            change()


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_without_permission_is_an_error(tmp_path):
    store = Store.open(tmp_path / "store")
    store.put(b"hello")
    (tmp_path / "store" / "values").chmod(0o500)
    (tmp_path / "store" / "tmp").chmod(0o500)
    with pytest.raises(OSError, match="Permission denied"):
        store.put(b"other")


def test_a_dead_server_is_an_error_within_seconds():
    store = Store.open("redis://127.0.0.1:1")
    start = time.monotonic()
    with pytest.raises(OSError, match=r"127\.0\.0\.1"):
        store.put(b"hello")
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    "call",
    [
        "store.put(b'hello')",
        "store.get('0' * 64)",
        "store.entry(EntryKey('compile'))",
        "store.put_entry(EntryKey('compile'), b'code')",
        "cached(store)(len)(b'hello')",
    ],
)
def test_ctrl_c_ends_the_wait_for_a_silent_server(call):
    code = f"""
        import os, signal, socket, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from isoform.store import EntryKey, Store, cached
        silent = socket.create_server(("127.0.0.1", 0))
        place = f"s3:bucket?endpoint=http://127.0.0.1:{{silent.getsockname()[1]}}"
        store = Store.open(place + "&no_credentials=true")
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            {call}
        except KeyboardInterrupt:
            # An attempt alone waits for ten seconds.
            print("interrupted", time.monotonic() - start < 8)
    """
    assert output_of(textwrap.dedent(code)) == "interrupted True\n"


def test_the_module_is_importable_alone():
    code = "from isoform.store import Store; print(Store.open('memory:').put(b'hello')[:4])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "ea8f\n"
    assert signal.getsignal(signal.SIGINT)
