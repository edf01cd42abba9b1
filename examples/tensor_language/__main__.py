"""Parses a program, optimises it twice with one cache on disk, and checks the results."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from isoform import serialization, structural_equal, verify
from isoform.store import Store
from isoform.transform import PassContext, StoreCache, script

from .evaluate import evaluate
from .nodes import Module
from .parse import parse
from .passes import pipeline

PROGRAM = """\
fn scale(a: f32[2, 16], b: f32[2, 16], c: f32[2, 16]) {
  for i in 2 {
    for j in 16 {
      let factor = 2.0 * 1.5;
      let x = a[i, j];
      b[i, j] = x * factor + x * 0.5;
    }
    for k in 16 {
      c[i, k] = max(a[i, k] - 1.0, 0.0) * (1 + 0);
    }
  }
}
"""


def optimised(module: Module, folder: Path) -> tuple[Module, int]:
    """The program after all passes, and the number of results that came from the folder."""
    with Store.open(folder) as store:
        with PassContext(opt_level=2, cache=StoreCache(store)):
            done: Module = pipeline()(module)
        return done, store.statistics()["hits"]


def main() -> int:
    """Run the example."""
    module = parse(PROGRAM)
    verify(module)
    # Text, files and the parser agree.
    assert structural_equal(parse(script(module)), module)
    assert structural_equal(serialization.from_bytes(serialization.to_bytes(module)), module)

    with tempfile.TemporaryDirectory() as folder:
        done, hits = optimised(module, Path(folder))
        again, later_hits = optimised(parse(PROGRAM), Path(folder))
    assert structural_equal(done, again)
    print(script(done), end="")
    print(f"from the cache: {hits} results of the first run, {later_hits} of the second")

    inputs = {"a": [float(number) for number in range(32)]}
    assert evaluate(done["scale"], inputs) == evaluate(module["scale"], inputs)
    print("the passes kept the results")
    return 0


if __name__ == "__main__":
    sys.exit(main())
