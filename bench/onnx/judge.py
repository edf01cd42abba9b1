"""Judge optimisers on models, and print a table.

    python -m bench.onnx.judge FOLDER --ours 'isoform optimize {in} {out}' --cache DIR

Each tool runs in a separate process, with a limit of time and a separate peak of memory.
onnxruntime without optimisations runs the output of the tool on the inputs of the
original, for two assignments of the symbolic dimensions, to find tools that fix a size.
Verdicts: exact (the same bits), close (1e-5 of the largest number), near (1e-3), off,
wrong (other shapes, types, names or integers), not loadable.

Results of the peers are kept by version and contents of the model, since they take
minutes; results of Isoform are measured each time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.onnx.peers import PEERS, version_of

Row = dict[str, Any]


def run(command: list[str], limit: float) -> tuple[str, float, float, str]:
    """Run a process; returns its status, seconds, peak of memory in MB, and output."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    ) as process:
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        output, status = b"", None
        while status is None:
            # wait4 knows the peak of this child alone.
            pid, code, usage = os.wait4(process.pid, os.WNOHANG)
            output += process.stdout.read() or b""
            if pid:
                status = os.waitstatus_to_exitcode(code)
            elif time.perf_counter() - start > limit:
                process.kill()
                _, _, usage = os.wait4(process.pid, 0)
                status = "timeout"
            else:
                time.sleep(0.002)
        process.returncode = 0
    seconds = time.perf_counter() - start
    named = {0: "ok", "timeout": "timeout"}.get(status, f"exit {status}")
    return named, seconds, usage.ru_maxrss / 1024, output.decode(errors="replace")


def ask(question: str, *arguments: str, limit: float = 300) -> Row:
    """Ask about a model in another process."""
    command = [sys.executable, "-m", "bench.onnx.running", question, *arguments]
    status, _, _, output = run(command, limit)
    try:
        return json.loads(output.strip().splitlines()[-1]) if status == "ok" else {"error": status}
    except (IndexError, ValueError):
        return {"error": output[-200:]}


def measure(tool: str, command: list[str], model: Path, kept: Path, args: Any) -> Row:
    """Let a tool work on a model, and judge the output."""
    target = args.cache / f"{tool}.onnx"
    best: Row = {}
    for _ in range(args.repeat):
        target.unlink(missing_ok=True)
        words = [{"{in}": str(model), "{out}": str(target)}.get(word, word) for word in command]
        status, seconds, memory, output = run(words, args.limit)
        if not best or seconds < best["seconds"]:
            best = {"status": status, "seconds": round(seconds, 3), "memory": round(memory, 1)}
    if best["status"] == "ok" and not target.exists():
        best["status"] = "no output"
    if best["status"] != "ok":
        return best | {"verdict": best["status"], "why": output[-300:]}
    best |= ask("contents", str(target))
    verdict = ask("compare", str(target), str(kept))
    return best | (verdict if "verdict" in verdict else {"verdict": "not loadable"} | verdict)


def digest_of(path: Path) -> str:
    """Hash a file in pieces: the peak of a child starts at the size of this process."""
    state = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 16):
            state.update(piece)
    return state.hexdigest()[:16]


def judge(model: Path, args: Any) -> Row:
    """Judge all tools on one model."""
    digest = digest_of(model)
    kept = args.cache / f"{digest}.npz"
    known = args.cache / f"{digest}.json"
    record: Row = json.loads(known.read_text()) if known.exists() else {}
    if "before" not in record:
        record["before"] = ask("contents", str(model))
        record["reference"] = ask("reference", str(model), str(kept))
    tools: Row = {}
    for name in args.peers:
        key = f"{name} {version_of(name)}"
        if key not in record:
            command = [sys.executable, "-m", "bench.onnx.peers", name, "{in}", "{out}"]
            record[key] = measure(name, command, model, kept, args)
            known.write_text(json.dumps(record))
        tools[name] = record[key]
    known.write_text(json.dumps(record))
    for name, command in args.ours.items():
        tools[name] = measure(name, shlex.split(command), model, kept, args)
    if "error" in record["reference"]:
        for row in tools.values():
            row["verdict"] = "not judged" if row["status"] == "ok" else row["verdict"]
    name = f"{model.parent.name}/{model.name}"
    return {"model": name, "before": record["before"], "tools": tools}


GOOD = ("exact", "close", "near", "off")


def table(records: list[Row]) -> str:
    """Write the figures as Markdown: a summary, then the models."""
    tools = list(records[0]["tools"])
    lines = [
        "| tool | exact | close, near, off | wrong, failed | not judged | nodes | seconds: median, sum | MB: median, most |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    for tool in tools:
        rows = [record["tools"][tool] for record in records]
        verdicts = [row["verdict"] for row in rows]
        bad = sum(verdict not in (*GOOD, "not judged") for verdict in verdicts)
        changed = " / ".join(str(verdicts.count(name)) for name in GOOD[1:])
        before = sum(record["before"]["nodes"] for record in records)
        nodes = sum(
            row["nodes"] if row["verdict"] in (*GOOD, "not judged") else record["before"]["nodes"]
            for row, record in zip(rows, records, strict=True)
        )
        seconds = [row["seconds"] for row in rows]
        memory = [row["memory"] for row in rows]
        lines.append(
            f"| {tool} | {verdicts.count('exact')} | {changed} | {bad} | {verdicts.count('not judged')} "
            f"| {before} → {nodes} ({nodes / before - 1:+.1%}) "
            f"| {statistics.median(seconds):.3f}, {sum(seconds):.1f} "
            f"| {statistics.median(memory):.0f}, {max(memory):.0f} |"
        )
    lines += ["", "| model | nodes | " + " | ".join(tools) + " |", "|---" * (len(tools) + 2) + "|"]
    for record in records:
        cells = []
        for tool in tools:
            row = record["tools"][tool]
            shown = {"exact": "", "not judged": " ?"}.get(row["verdict"], f" {row['verdict']}")
            cells.append(f"{row.get('nodes', '')}{shown}".strip())
        lines.append(f"| {record['model']} | {record['before']['nodes']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def page(text: str, peers: list[str], count: int) -> str:
    """Put a table on a page with a description of the measurement."""
    versions = ", ".join(f"{name} {version_of(name)}" for name in peers)
    return f"""# Isoform beside other optimisers of ONNX

Written by `make bench-onnx`, which fetches the models and installs the peers: {versions}.
Each tool worked on {count} models in a process of its own, and the seconds are those of the whole process, the shortest of a few runs.
What it wrote ran in onnxruntime without optimisations, on the inputs of the original, for two assignments of the symbolic dimensions: *exact* is the same bits, *close* 1e-5 of the largest number, *near* 1e-3, *off* beyond, *wrong* another shape, type, name or integer.
`copy` only reads and writes the model with the `onnx` package; `?` is a model that the runtime itself could not run.

{text}"""


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="models, in folders by package")
    parser.add_argument("--ours", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument(
        "--peers", type=lambda text: [it for it in text.split(",") if it], default=list(PEERS)
    )
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--limit", type=float, default=120, help="seconds for one model")
    parser.add_argument("--repeat", type=int, default=1, help="take the shortest of so many runs")
    parser.add_argument("--json", type=Path, help="write the records here, one a line")
    parser.add_argument("--markdown", type=Path, help="write the table here, too")
    args = parser.parse_args()
    args.ours = dict(named.split("=", 1) for named in args.ours)
    args.cache.mkdir(parents=True, exist_ok=True)
    records = []
    for model in sorted(args.folder.rglob("*.onnx")):
        record = judge(model, args)
        records.append(record)
        shown = {name: row["verdict"] for name, row in record["tools"].items()}
        print(record["model"], record["before"]["nodes"], shown, file=sys.stderr, flush=True)
    if args.json:
        args.json.write_text("".join(json.dumps(record) + "\n" for record in records))
    text = table(records)
    if args.markdown:
        args.markdown.write_text(page(text, args.peers, len(records)))
    print(text)


if __name__ == "__main__":
    main()
