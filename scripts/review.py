"""Review changed models of a pull request: one summary, and a page for each model.

    python scripts/review.py compare --base REF --head REF [--out FOLDER] [PATTERN...]
    python scripts/review.py compare --base PATH --head PATH [--out FOLDER] [PATTERN...]
    python scripts/review.py comment --summary FILE --repository OWNER/NAME --number N

`compare` finds the models that changed between two git revisions, or between two folders or
files, and compares each by `isoform diff`. It writes `summary.md`, `result.json` and
`pages/*.html` into a folder, which has to be empty or to have the files of an earlier run
alone; those are removed. In a job of GitHub Actions, the summary also goes to the page of
the job, and the numbers become outputs of the step.

`comment` puts the summary into one comment of a pull request by `gh api`: the comment of an
earlier run is updated. Without permission to write, as in pull requests from forks, it says so
and succeeds.

The files are only read: nothing of the pull request runs. The exit status is 2 on error, also
for options that `isoform diff` does not have.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from review_comment import comment, summary
from review_compare import (
    SAME,
    Change,
    Paths,
    ReviewError,
    Revisions,
    check_options,
    compare,
    split,
    unicode,
)

PATTERNS = ("*.onnx", "*.iso", "*.isob")


def append(variable: str, text: str) -> None:
    """Append to a file that GitHub Actions names in the environment."""
    path = os.environ.get(variable)
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def written_by(out: Path) -> set[Path]:
    """The files that an earlier review wrote into a folder, as its `result.json` names them."""
    try:
        entries = json.loads((out / "result.json").read_text(encoding="utf-8"))
        pages = {entry["page"] for entry in entries} - {None}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    names = {name for name in pages if re.fullmatch(r"[A-Za-z0-9._-]+\.html", str(name))}
    return {out / "result.json", out / "summary.md"} | {out / "pages" / name for name in names}


def results_of_earlier(out: Path) -> list[Path]:
    """The files to remove before a review is written into a folder.

    Raises if another file is there: it would be uploaded with the pages of the review.
    """
    files = [path for path in out.rglob("*") if path.is_symlink() or not path.is_dir()]
    foreign = sorted(set(files) - written_by(out))
    if foreign:
        name = foreign[0].relative_to(out)
        raise ReviewError(
            f"{out}: expected an empty folder or the results of an earlier review, got a folder "
            f"with {unicode(str(name))}; choose another folder by --out"
        )
    return files


def write_results(out: Path, pages: Path, changes: list[Change], text: str) -> None:
    """Replace the results of an earlier review."""
    for path in results_of_earlier(out):
        path.unlink()
    (out / "pages").mkdir(parents=True, exist_ok=True)
    result = [
        {
            "file": unicode(change.name),
            "before": change.before and unicode(change.before),
            "after": change.after and unicode(change.after),
            "verdict": change.verdict,
            "page": change.page,
        }
        for change in changes
    ]
    # First the list, which tells the next run what to remove.
    (out / "result.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    (out / "summary.md").write_text(text, encoding="utf-8")
    for change in changes:
        if change.page:
            shutil.move(pages / change.page, out / "pages" / change.page)


def run_compare(args: argparse.Namespace) -> int:
    """Compare all changed files."""
    for label in ("base", "head"):
        # An empty path would be the current folder.
        if not getattr(args, label).strip():
            raise ReviewError(
                f"{label}: expected a revision, folder or file, got an empty text; outside of "
                "pull requests, set the inputs base and head"
            )
    options = split("--options", args.options)
    check_options(options)
    out = Path(args.out)
    results_of_earlier(out)
    base, head = Path(args.base), Path(args.head)
    is_paths = base.exists() and head.exists()
    versions = Paths(base, head) if is_paths else Revisions(args.base, args.head)
    changes = versions.changes(args.patterns or list(PATTERNS))
    with tempfile.TemporaryDirectory() as pages:
        for change in changes:
            compare(change, versions, Path(pages), options)
        text = summary(args.title, changes, args.link)
        write_results(out, Path(pages), changes, text)
    different = sum(change.verdict != SAME for change in changes)
    has_pages = any(change.page for change in changes)
    append("GITHUB_STEP_SUMMARY", text)
    append(
        "GITHUB_OUTPUT",
        f"files={len(changes)}\ndifferent={different}\n"
        f"pages={'true' if has_pages else 'false'}\nfolder={out}\nsummary={out / 'summary.md'}\n",
    )
    print(text)
    return 0


def run_comment(args: argparse.Namespace) -> int:
    """Write or update the comment."""
    comment(args.repository, args.number, Path(args.summary))
    return 0


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(required=True)
    comparing = commands.add_parser("compare", help="compare the changed models")
    comparing.add_argument("--base", required=True, help="a git revision, a folder or a file")
    comparing.add_argument("--head", required=True, help="the other one")
    comparing.add_argument("--out", default="isoform-review", help="the folder for the results")
    comparing.add_argument("--title", default="Isoform model review")
    comparing.add_argument("--options", default="", help="more options of isoform diff")
    comparing.add_argument("--link", default="", help="the address of the pages")
    comparing.add_argument("patterns", nargs="*", help=f"files; {' '.join(PATTERNS)} by default")
    comparing.set_defaults(run=run_compare)
    commenting = commands.add_parser("comment", help="comment on the pull request")
    commenting.add_argument("--summary", required=True)
    commenting.add_argument("--repository", required=True)
    commenting.add_argument("--number", required=True, type=int)
    commenting.set_defaults(run=run_comment)
    args = parser.parse_args()
    try:
        return args.run(args)
    except (ReviewError, OSError) as error:
        print(f"review: {unicode(str(error))}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
