"""Run the code cells of a notebook, without Jupyter.

    python scripts/run_notebook.py NOTEBOOK [--without TAG] [--write]

Prints the notebook with the new outputs as JSON, or writes it in place with `--write`:
texts that cells print, the value of the last expression as text and, if it has a
`_repr_html_`, as HTML, and figures of matplotlib as PNG.
`--without TAG` leaves out the cells with a tag. The first exception ends the run.
"""

from __future__ import annotations

import argparse
import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

DOTS_PER_INCH = 72


def outputs_of(source: str, name: str, namespace: dict[str, Any], count: int) -> list[Any]:
    """Run the source of a cell, and return its outputs in the form of the file."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, name, "exec"), namespace)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    if source.rstrip().endswith(";"):
        value = None
    outputs: list[Any] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        outputs.append(
            {
                "data": data_of(value),
                "execution_count": count,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return [*outputs, *figures()]


def data_of(value: Any) -> dict[str, list[str]]:
    """A value in the forms in which notebooks show it."""
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    method = getattr(value, "_repr_html_", None)
    page = method() if callable(method) and not isinstance(value, type) else None
    if page is not None:
        data["text/html"] = page.splitlines(keepends=True)
    return data


def figures() -> list[Any]:
    """The open figures of matplotlib, which are closed, as a notebook does."""
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return []
    outputs = []
    for number in plt.get_fignums():
        image = io.BytesIO()
        plt.figure(number).savefig(image, format="png", dpi=DOTS_PER_INCH, bbox_inches="tight")
        data = base64.b64encode(image.getvalue()).decode()
        outputs.append({"data": {"image/png": data}, "metadata": {}, "output_type": "display_data"})
    plt.close("all")
    return outputs


def run(notebook: dict[str, Any], name: str, without: str | None = None) -> None:
    """Run the code cells of a notebook in order, and replace their outputs."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(cells, 1):
        if without in cell["metadata"].get("tags", []):
            continue
        source = "".join(cell["source"])
        cell["outputs"] = outputs_of(source, f"{name}[{count}]", namespace, count)
        cell["execution_count"] = count


def main() -> None:
    """Run the notebook of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--without", metavar="TAG", help="leave out the cells with this tag")
    parser.add_argument("--write", action="store_true", help="write the outputs to the file")
    arguments = parser.parse_args()
    notebook = json.loads(arguments.notebook.read_text(encoding="utf-8"))
    run(notebook, arguments.notebook.name, arguments.without)
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    if arguments.write:
        arguments.notebook.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
