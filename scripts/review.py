"""Review changed models of a pull request: one summary, and a page for each model.

    python scripts/review.py compare --base REF --head REF [--out FOLDER] [PATTERN...]
    python scripts/review.py compare --base PATH --head PATH [--out FOLDER] [PATTERN...]
    python scripts/review.py comment --summary FILE --repository OWNER/NAME --number N

`compare` finds the models that changed between two git revisions, or between two folders or
files, and compares each by `isoform diff`. It writes `summary.md`, `result.json` and
`pages/*.html` into a folder. In a job of GitHub Actions, the summary also goes to the page of
the job, and the numbers become outputs of the step.

`comment` puts the summary into one comment of a pull request by `gh api`: the comment of an
earlier run is updated. Without permission to write, as in pull requests from forks, it says so
and succeeds.

The files are only read: nothing of the pull request runs.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import html
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

PATTERNS = ("*.onnx", "*.iso", "*.isob")

# The longest comment that GitHub accepts has 65,536 characters.
LIMIT = 60_000

EQUAL, DIFFERENT = 0, 1


class ReviewError(Exception):
    """A failure that ends the review; the text says why."""


@dataclass
class Change:
    """A changed file, by its path in each version; None where it is missing."""

    before: str | None
    after: str | None
    verdict: str = ""
    details: str = ""
    page: str | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The path to show."""
        return self.after or self.before or ""


# --------------------------------------------------------------------------------------
# The two versions
# --------------------------------------------------------------------------------------


def split(label: str, text: str) -> list[str]:
    """The words of a text, as a shell splits it; the label says where the text is from."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ReviewError(f"{label}: {text}: expected words of a shell: {error}") from None


def unicode(text: str) -> str:
    """A text without the surrogates that stand for bytes of names that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def git(*words: str) -> bytes:
    """The output of git."""
    ran = subprocess.run(["git", *words], capture_output=True, check=False)
    if ran.returncode != 0:
        reason = ran.stderr.decode(errors="replace").strip()
        raise ReviewError(f"git {shlex.join(words)}: {reason}")
    return ran.stdout


class Revisions:
    """Two revisions of the repository in the current folder."""

    def __init__(self, base: str, head: str) -> None:
        """Start from the common ancestor, which is what a pull request changes."""
        self.head = head
        try:
            self.base = git("merge-base", base, head).decode().strip()
        except ReviewError:
            self.base = base

    def changes(self, patterns: list[str]) -> list[Change]:
        """The changed files that match the patterns."""
        # A pattern without a slash is for every folder, as in .gitignore.
        specs = [f":(glob){pattern if '/' in pattern else '**/' + pattern}" for pattern in patterns]
        revisions = [self.base, self.head]
        flags = ["--name-status", "-z", "--find-renames", "--no-ext-diff"]
        # Names are bytes, which need not be UTF-8.
        listed = os.fsdecode(git("diff", *flags, *revisions, "--", *specs))
        words = iter(listed.split("\0"))
        changes = []
        for status in words:
            if status[:1] in "RC" and status:
                changes.append(Change(next(words), next(words)))
            elif status == "A":
                changes.append(Change(None, next(words)))
            elif status == "D":
                changes.append(Change(next(words), None))
            elif status:
                name = next(words)
                changes.append(Change(name, name))
        return changes

    def read(self, side: int, name: str) -> bytes:
        """A version of a file; pointers of Git LFS are followed if it is set up."""
        revision = (self.base, self.head)[side]
        return git("cat-file", "--filters", f"{revision}:{name}")


class Paths:
    """Two folders, or two files."""

    def __init__(self, base: Path, head: Path) -> None:
        """Both have to be folders, or both files."""
        self.sides = (base, head)
        if base.is_dir() != head.is_dir():
            raise ReviewError(f"{base} and {head}: expected two folders or two files")

    def changes(self, patterns: list[str]) -> list[Change]:
        """The files that match the patterns and do not have the same bytes."""
        base, head = self.sides
        if not base.is_dir():
            return [Change(base.name, head.name)]
        names = sorted(self.files(base, patterns) | self.files(head, patterns))
        changes = []
        for name in names:
            before, after = (name if (side / name).is_file() else None for side in self.sides)
            if before is None or after is None or not self.has_same_bytes(name):
                changes.append(Change(before, after))
        return changes

    def has_same_bytes(self, name: str) -> bool:
        """Whether both versions of a file can be read and have the same bytes."""
        try:
            return self.read(0, name) == self.read(1, name)
        except OSError:
            # The comparison of the file shows the reason.
            return False

    @staticmethod
    def files(folder: Path, patterns: list[str]) -> set[str]:
        """The names of matching files below a folder."""
        found = set()
        for path in folder.rglob("*"):
            name = path.relative_to(folder).as_posix()
            whole = [fnmatch.fnmatch(name, pattern) for pattern in patterns]
            last = [fnmatch.fnmatch(path.name, pattern) for pattern in patterns]
            if path.is_file() and (any(whole) or any(last)):
                found.add(name)
        return found

    def read(self, side: int, name: str) -> bytes:
        """A version of a file."""
        path = self.sides[side]
        return (path / name if path.is_dir() else path).read_bytes()


# --------------------------------------------------------------------------------------
# Comparison
# --------------------------------------------------------------------------------------


def isoform(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    command = split("ISOFORM_COMMAND", os.environ.get("ISOFORM_COMMAND", "")) or [
        *(sys.executable, "-m", "isoform")
    ]
    return subprocess.run(
        [*command, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def page_name(name: str) -> str:
    """A file name for the page of a model, with no sign that a shell or URL treats specially.

    The digest keeps names apart that differ in other signs, in case or in the part left out.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[-100:].strip("-.")
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{plain or 'model'}-{digest}.html"


def extract(change: Change, versions: Revisions | Paths, folder: Path) -> list[str]:
    """Write both versions of a file into a folder; returns their names there."""
    names = []
    for side, (label, name) in enumerate([("base", change.before), ("head", change.after)]):
        # Names of files must not lead out of the folder.
        parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..")]
        path = Path(label, *parts)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(versions.read(side, name))
        names.append(path.as_posix())
    return names


def compare(change: Change, versions: Revisions | Paths, pages: Path, options: list[str]) -> None:
    """Compare the two versions of a file, and note the result."""
    if change.before is None or change.after is None:
        change.verdict = "added" if change.before is None else "removed"
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        try:
            names = extract(change, versions, folder)
        except (ReviewError, OSError) as error:
            # A missing object or a failing filter of one file leaves the others comparable.
            change.verdict = "not readable"
            change.details = fenced(unicode(str(error)))
            return
        page = pages / page_name(change.name)
        words = ["diff", "--format", "markdown", "--html", str(page.resolve()), "--force"]
        ran = isoform(folder, *words, *options, "--", *names)
        if ran.returncode > DIFFERENT and "external data" in ran.stderr:
            # Git has the data as files of its own, which need not be in the repository.
            change.notes.append("The contents of external data are not compared.")
            ran = isoform(folder, *words, *options, "--architecture", "--", *names)
    if ran.returncode == EQUAL:
        change.verdict = "the same program"
    elif ran.returncode == DIFFERENT:
        change.verdict = "different"
    else:
        change.verdict = "not readable"
        change.details = fenced(ran.stderr)
        return
    change.details = ran.stdout.strip()
    if page.exists():
        change.page = page.name


def fenced(text: str) -> str:
    """A text that Markdown shows as it is."""
    runs = [len(run) for run in re.findall("`+", text)]
    fence = "`" * max([3, *(length + 1 for length in runs)])
    return f"{fence}\n{text.strip()}\n{fence}"


# --------------------------------------------------------------------------------------
# Summary
# --------------------------------------------------------------------------------------


def marker(title: str) -> str:
    """The comment that identifies the comment of an earlier run."""
    return f"<!-- isoform-review: {re.sub(r'[^A-Za-z0-9 ._-]+', ' ', title)} -->"


def code(name: str) -> str:
    """A name as code in a cell of a table."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    return f"<code>{html.escape(text).replace('|', '&#124;')}</code>"


def summary(title: str, changes: list[Change], link: str) -> str:
    """The text for the pull request, short enough for a comment."""
    heads = [marker(title), f"### {title}", ""]
    if not changes:
        return "\n".join([*heads, "No model changed."]) + "\n"
    counts: dict[str, int] = {}
    for change in changes:
        counts[change.verdict] = counts.get(change.verdict, 0) + 1
    counted = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    heads += [f"**{len(changes)} changed: {counted}.**", "", "| file | verdict |", "|---|---|"]
    rows = [f"| {code(change.name)} | {change.verdict} |" for change in changes]
    tail = (
        f"\nThe pages with all changes are an artefact of [this run]({link}).\n" if link else "\n"
    )
    text = "\n".join(heads) + "\n"
    left_out = 0
    for row in rows:
        if len(text) + len(row) + len(tail) > LIMIT // 2:
            left_out += 1
        else:
            text += row + "\n"
    if left_out:
        text += f"\n… and {left_out} more files.\n"
    omitted = 0
    for change in changes:
        if not change.details:
            continue
        is_open = " open" if len(changes) == 1 else ""
        notes = "".join(f"{note}\n\n" for note in change.notes)
        block = (
            f"\n<details{is_open}><summary>{code(change.name)}: {change.verdict}</summary>\n\n"
            f"{notes}{change.details}\n\n</details>\n"
        )
        if len(text) + len(block) + len(tail) + 100 > LIMIT:
            omitted += 1
        else:
            text += block
    if omitted:
        text += f"\nThe details of {omitted} files do not fit in here.\n"
    return text + tail


def append(variable: str, text: str) -> None:
    """Append to a file that GitHub Actions names in the environment."""
    path = os.environ.get(variable)
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


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
    base, head = Path(args.base), Path(args.head)
    is_paths = base.exists() and head.exists()
    versions = Paths(base, head) if is_paths else Revisions(args.base, args.head)
    patterns = args.patterns or list(PATTERNS)
    out = Path(args.out)
    pages = out / "pages"
    pages.mkdir(parents=True, exist_ok=True)
    changes = versions.changes(patterns)
    for change in changes:
        compare(change, versions, pages, options)
    text = summary(args.title, changes, args.link)
    (out / "summary.md").write_text(text, encoding="utf-8")
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
    (out / "result.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    different = sum(change.verdict != "the same program" for change in changes)
    has_pages = any(change.page for change in changes)
    append("GITHUB_STEP_SUMMARY", text)
    append(
        "GITHUB_OUTPUT",
        f"files={len(changes)}\ndifferent={different}\n"
        f"pages={'true' if has_pages else 'false'}\nsummary={out / 'summary.md'}\n",
    )
    print(text)
    return 0


# --------------------------------------------------------------------------------------
# Comment
# --------------------------------------------------------------------------------------


def gh(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line of GitHub."""
    return subprocess.run(
        ["gh", "api", *words], capture_output=True, text=True, encoding="utf-8", check=False
    )


def earlier_comment(issue: str, mark: str) -> str | None:
    """The comment of an earlier run: of a bot, because anybody can write the marker."""
    ran = gh("--paginate", f"{issue}/comments", "--jq", ".[] | [.id, .user.type, .body] | @json")
    if ran.returncode != 0:
        return None
    for line in ran.stdout.splitlines():
        number, kind, body = json.loads(line)
        if kind == "Bot" and body.startswith(mark):
            return str(number)
    return None


def run_comment(args: argparse.Namespace) -> int:
    """Write or update the comment."""
    summary_file = Path(args.summary)
    mark = summary_file.read_text(encoding="utf-8").split("\n", 1)[0]
    issues = f"repos/{args.repository}/issues"
    body = ["-F", f"body=@{summary_file}"]
    earlier = earlier_comment(f"{issues}/{args.number}", mark)
    if earlier is None:
        ran = gh("--method", "POST", f"{issues}/{args.number}/comments", *body)
    else:
        ran = gh("--method", "PATCH", f"{issues}/comments/{earlier}", *body)
    if ran.returncode == 0:
        print("updated the comment" if earlier else "wrote a comment")
        return 0
    reason = ran.stderr.strip()
    if re.search(r"HTTP 40[134]|Resource not accessible", reason):
        print(
            "::notice::No permission to comment, as in pull requests from forks; the summary is "
            "on the page of this run."
        )
        return 0
    raise ReviewError(f"gh api: {reason}")


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
        print(f"review: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
