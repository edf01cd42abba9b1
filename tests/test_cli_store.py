"""The commands `isoform cache` and `isoform store` of the package, and their page."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import output_of

from isoform.store import Store

ROOT = Path(__file__).resolve().parent.parent
# No test waits this long.
PATIENCE = 60
# The time when the tools of a test were installed, in seconds of the epoch.
INSTALLED = 1_700_000_000
COMPILER = '#!/bin/sh\ncp "$2" "$4"\n'


@pytest.fixture
def folder(tmp_path):
    """A folder with a program, and tools for the path: a compiler and the command."""
    program = (ROOT / "examples" / "ir" / "residual.iso").read_text()
    (tmp_path / "kernel.iso").write_text(program)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in [
        ("mycc", COMPILER),
        ("isoform", f'#!/bin/sh\nexec "{sys.executable}" -m isoform "$@"\n'),
    ]:
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
        # Installed long ago: a store remembers the digests of such executables.
        os.utime(tools / name, (INSTALLED, INSTALLED))
    return tmp_path


def environment(folder):
    path = f"{folder / 'tools'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "ISOFORM_STORE": str(folder / "store")}


def shell(folder, line):
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.stdout


def masked(text):
    """The text without digests, whose first digits depend on the compiler."""
    return re.sub(r"\b[0-9a-f]{12}\b", "DIGEST", re.sub(r"\d+ bytes", "N bytes", text))


def transcripts():
    page = (ROOT / "docs" / "stores.md").read_text(encoding="utf-8")
    return re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def test_the_page_shows_what_the_command_prints(folder):
    (transcript,) = transcripts()
    found = []
    for line in transcript.splitlines():
        if line.startswith("$ "):
            found += [line, *shell(folder, line[2:]).splitlines()]
    assert masked("\n".join(found)) == masked(transcript.strip())


COMPILE = "isoform cache run --key kernel.iso --out kernel.o -- mycc -O2 kernel.iso -o kernel.o"


def test_python_and_the_command_share_a_store(folder):
    assert "miss" in shell(folder, COMPILE)
    store = Store.open(folder / "store")
    ((digest, key),) = store.find(job="run")
    assert key["option.outputs"] == "1"
    assert f"entry  {digest}" in shell(folder, "isoform store ls")
    name = store.put(b"hello")
    assert shell(folder, f"isoform store get {name}") == "hello"
    assert "hit" in shell(folder, COMPILE)


def test_ctrl_c_ends_the_command_and_nothing_is_stored(folder):
    (folder / "tools" / "mycc").write_text("#!/bin/sh\necho ready\nsleep 30\n")
    with subprocess.Popen(
        ["sh", "-c", f"exec {COMPILE}"],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        # A shell that is about to start a process may lose the signal.
        time.sleep(1)
        start = time.monotonic()
        # As a terminal does: to the whole group.
        os.killpg(child.pid, signal.SIGINT)
        assert child.wait(timeout=PATIENCE) == 130
        assert time.monotonic() - start < 20
    (folder / "tools" / "mycc").write_text(COMPILER)
    assert Store.open(folder / "store").find(job="run") == []


def test_a_dead_server_never_breaks_a_build(folder):
    line = COMPILE.replace("run", "run --store redis://me:secret@127.0.0.1:1")
    start = time.monotonic()
    printed = shell(folder, line)
    assert "isoform cache: warning: store redis" in printed
    assert "secret" not in printed
    assert (folder / "kernel.o").exists()
    assert time.monotonic() - start < 30


def test_a_full_disk_never_breaks_a_build(folder):
    # A limit on the size of files takes the place of the full disk.
    (folder / "tools" / "mycc").write_text(
        '#!/bin/sh\nhead -c 4000 /dev/zero > "$4"; head -c 9000 /dev/zero\n'
    )
    # The shell would otherwise end at the limit, like the command.
    limited = f"trap '' XFSZ; ulimit -f 8; {COMPILE}; echo status $?"
    printed = shell(folder, limited)
    assert "isoform cache: warning: " in printed
    assert "status 0" in printed
    assert (folder / "kernel.o").stat().st_size == 4000
    assert Store.open(folder / "store").verify()["damage"] == []


def test_the_default_place_is_a_folder_of_the_user(folder):
    code = "import isoform._core as c; print(c.cli_main(['isoform', 'store', 'sizes', '--quiet']))"
    env_code = f"import os; os.environ.pop('ISOFORM_STORE', None)\nos.environ['XDG_CACHE_HOME']={str(folder)!r}\n"
    printed = output_of(env_code + code)
    assert printed.endswith("total    0 files, 0 bytes\n0\n")
    assert (folder / "isoform" / "store").is_dir()
