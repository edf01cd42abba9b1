"""Run the tests of stores against real servers: Redis, and a server with the protocol of S3.

    .venv/bin/python scripts/servers.py

Redis is the one of the machine, or else unpacked from Debian's packages into
`.cache/servers`, without root. The other server is a package of PyPI in an environment of
its own. Both listen on free ports of this machine and end with the script. A server that
cannot be had is skipped, and a line says so.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from packages import ROOT, quietly, unpack

FOLDER = ROOT / ".cache" / "servers"
PACKAGES = ["redis-server", "redis-tools", "libjemalloc2", "liblzf1"]
S3_SERVER = "localbucket==1.2.1"
# The server checks no keys, but clients sign their requests.
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "auto"}
PATIENCE = 30


def redis_command() -> list[str]:
    """Return the command of a Redis server; unpack it if need be."""
    found = shutil.which("redis-server")
    if found:
        return [found]
    tools = FOLDER / "redis"
    unpack(tools, PACKAGES)
    (libraries,) = {file.parent for file in tools.glob("usr/lib/*/liblzf.so.1")}
    server = next(tools.glob("usr/bin/redis-server"))
    return ["env", f"LD_LIBRARY_PATH={libraries}", str(server.absolute())]


def s3_command() -> list[str]:
    """Return the command of the server with the protocol of S3; install it if need be."""
    environment = FOLDER / "s3"
    command = environment / "bin" / "localbucket"
    if not command.exists():
        quietly([sys.executable, "-m", "venv", "--clear", str(environment)])
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--no-deps"]
        quietly([*pip, "--disable-pip-version-check", S3_SERVER])
    return [str(command)]


def servers(data: Path) -> dict[str, dict[str, object]]:
    """Return the command and the URL of each server, with {port} for its port."""
    (data / "bucket").mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, object]] = {}
    redis = ["--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--dir", str(data)]
    s3 = [str(data), "--host", "127.0.0.1", "--port", "{port}"]
    for name, command_of, options, url in [
        ("redis", redis_command, redis, "redis://127.0.0.1:{port}"),
        ("s3", s3_command, s3, "s3:bucket?endpoint=http://127.0.0.1:{port}"),
    ]:
        try:
            found[name] = {"command": [*command_of(), *options], "url": url}
        except (OSError, StopIteration, ValueError) as error:
            print(f"skipped: the {name} server cannot be had here: {error}")
    return found


@contextlib.contextmanager
def started(server: dict[str, object]) -> Iterator[str]:
    """Run a server on a free port; the value is its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(word).replace("{port}", str(port)) for word in server["command"]]  # type: ignore[attr-defined]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            deadline = time.monotonic() + PATIENCE
            while True:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                if child.poll() is not None or time.monotonic() > deadline:
                    raise OSError(f"the server does not start: {' '.join(command)}")
                time.sleep(0.05)
            yield str(server["url"]).replace("{port}", str(port))
        finally:
            child.kill()


def main() -> int:
    """Run the tests of both languages."""
    data = FOLDER / "data"
    shutil.rmtree(data, ignore_errors=True)
    found = servers(data)
    if not found:
        return 0
    with contextlib.ExitStack() as stack:
        urls = [stack.enter_context(started(server)) for server in found.values()]
        environment = {
            **os.environ,
            **KEYS,
            "ISOFORM_STORE_TEST_SERVERS": " ".join(urls),
            "ISOFORM_STORE_TEST_COMMANDS": json.dumps(found),
        }
        cargo = [os.environ.get("CARGO", "cargo"), "test", "-p", "isoform-remote", "--locked"]
        python = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        runs = [
            ([*cargo, "--test", "it", "real_servers"], {}),
            ([*python, "tests/test_store_servers.py"], {}),
            *(
                ([*python, "tests/test_docs.py", "-k", "stores"], {"ISOFORM_STORE": url})
                for url in urls
            ),
        ]
        for command, variables in runs:
            print(f"==> {' '.join(command[-4:])}", *variables.values(), flush=True)
            done = subprocess.run(command, cwd=ROOT, env={**environment, **variables}, check=False)
            if done.returncode != 0:
                return 1
    print(f"passed with {', '.join(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
