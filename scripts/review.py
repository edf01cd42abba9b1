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
import contextlib
import filecmp
import fnmatch
import hashlib
import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

PATTERNS = ("*.onnx", "*.iso", "*.isob")

# A field `location` of external data in the encoding of ONNX, up to the length of its value.
LOCATION = re.compile(rb"\n\x08location\x12([\x80-\xff]?[\x00-\x7f])")

POINTER = b"version https://git-lfs.github.com/spec/"

# The longest comment that GitHub accepts has 65,536 characters.
LIMIT = 60_000

EQUAL, DIFFERENT = 0, 1

SAME = "the same program"


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
    ran = subprocess.run(
        ["git", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if ran.returncode != 0:
        reason = ran.stderr.decode(errors="replace").strip()
        raise ReviewError(f"git {shlex.join(words)}: {reason}")
    return ran.stdout


def data_names(model: bytes, name: str) -> list[str]:
    """The files that a model names as its external data, as paths beside the model's.

    Bytes of weights that look like a name add a name, at most; no file has it.
    """
    folder = PurePosixPath(name).parent
    names = set()
    for match in LOCATION.finditer(model):
        size = sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(match[1]))
        location = os.fsdecode(model[match.end() : match.end() + size])
        path = PurePosixPath(location)
        # ONNX has no data outside of the folder of the model.
        if (
            path.parts
            and not path.is_absolute()
            and ".." not in path.parts
            and "\0" not in location
        ):
            names.add((folder / path).as_posix())
    return sorted(names)


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
        return changes + self.changes_of_data(specs)

    def changes_of_data(self, specs: list[str]) -> list[Change]:
        """The models that are as before beside changed external data."""
        flags = ["--name-only", "-z", "--no-renames", "--no-ext-diff"]
        listed = os.fsdecode(git("diff", *flags, self.base, self.head))
        edited = set(filter(None, listed.split("\0")))
        folders = {folder for name in edited for folder in PurePosixPath(name).parents}
        nothing = git("hash-object", "-t", "tree", "--stdin").decode().strip()
        models = os.fsdecode(git("diff", *flags, nothing, self.head, "--", *specs)).split("\0")
        changes = []
        for name in sorted(set(filter(None, models)) - edited):
            # A model is read only if a file that may be its data changed.
            if PurePosixPath(name).parent not in folders:
                continue
            try:
                model = self.read(1, name)
            except ReviewError:
                continue
            if edited.intersection(data_names(model, name)):
                changes.append(Change(name, name))
        return changes

    def save(self, side: int, name: str, path: Path) -> None:
        """Write a version of a file, which may be larger than the memory."""
        revision = (self.base, self.head)[side]
        words = ["git", "cat-file", "--filters", f"{revision}:{name}"]
        with path.open("wb") as file:
            ran = subprocess.run(words, stdout=file, stderr=subprocess.PIPE, check=False)
        if ran.returncode != 0:
            reason = ran.stderr.decode(errors="replace").strip()
            raise ReviewError(f"{shlex.join(words)}: {reason}")

    def read(self, side: int, name: str) -> bytes:
        """A version of a file; pointers of Git LFS are followed if it is set up."""
        revision = (self.base, self.head)[side]
        return git("cat-file", "--filters", f"{revision}:{name}")


class Paths:
    """Two folders, or two files."""

    def __init__(self, base: Path, head: Path) -> None:
        """Both have to be folders, or both files."""
        self.sides = (base, head)
        self.folders = tuple(side if side.is_dir() else side.parent for side in self.sides)
        if base.is_dir() != head.is_dir():
            raise ReviewError(f"{base} and {head}: expected two folders or two files")

    def changes(self, patterns: list[str]) -> list[Change]:
        """The files that match the patterns and do not have the same bytes and data."""
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
        """Return whether both versions of a model can be read and have the same bytes and data."""
        try:
            model = self.read(0, name)
            if model != self.read(1, name):
                return False
            for data in data_names(model, name):
                paths = [folder / data for folder in self.folders]
                if not any(path.exists() for path in paths):
                    continue
                if not filecmp.cmp(*paths, shallow=False):
                    return False
        except OSError:
            # The comparison of the file shows the reason.
            return False
        return True

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

    def save(self, side: int, name: str, path: Path) -> None:
        """Write a version of a file, which may be larger than the memory."""
        folder = self.folders[side].resolve()
        source = (folder / name).resolve()
        if not source.is_relative_to(folder):
            raise ReviewError(f"{folder / name}: a link out of the folder")
        shutil.copyfile(source, path)

    def read(self, side: int, name: str) -> bytes:
        """A version of a file."""
        return (self.folders[side] / name).read_bytes()


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
        model = versions.read(side, name)
        (folder / path).write_bytes(model)
        for data in data_names(model, name):
            place = (
                folder / path.parent / PurePosixPath(data).relative_to(PurePosixPath(name).parent)
            )
            extract_data(versions, side, data, place)
        names.append(path.as_posix())
    return names


def extract_data(versions: Revisions | Paths, side: int, name: str, path: Path) -> None:
    """Write a file of external data, unless it is missing or only a pointer of Git LFS."""
    try:
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        versions.save(side, name, path)
        with path.open("rb") as file:
            is_data = file.read(len(POINTER)) != POINTER
    except (ReviewError, OSError):
        is_data = False
    if not is_data:
        # The comparison then tells that the data is missing.
        with contextlib.suppress(OSError):
            path.unlink()


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
        is_whole = True
        ran = isoform(folder, *words, *options, "--", *names)
        if ran.returncode > DIFFERENT and "external data" in ran.stderr:
            # The data are files of their own, which need not be in the repository.
            is_whole = False
            change.notes.append("The contents of external data are not compared.")
            ran = isoform(folder, *words, *options, "--architecture", "--", *names)
    if ran.returncode == EQUAL:
        change.verdict = SAME if is_whole else "the same architecture (weights not compared)"
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
    different = sum(change.verdict != SAME for change in changes)
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
