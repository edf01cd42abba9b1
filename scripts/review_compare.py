"""The changed models of two versions, and how each changed.

The versions are two git revisions, folders or files. The files are only read: nothing in them
runs.
"""

from __future__ import annotations

import contextlib
import filecmp
import fnmatch
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

# A field `location` of external data in the encoding of ONNX, up to the length of its value.
LOCATION = re.compile(rb"\n\x08location\x12([\x80-\xff]?[\x00-\x7f])")

POINTER = b"version https://git-lfs.github.com/spec/"

EQUAL, DIFFERENT = 0, 1

SAME = "the same program"

# The words of each comparison, before the name of its page.
COMPARING = ("--format", "markdown", "--force", "--html")


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


def git(*words: str, given: bytes = b"", allowed: tuple[int, ...] = (0,)) -> bytes:
    """The output of git."""
    ran = subprocess.run(["git", *words], input=given, capture_output=True, check=False)
    if ran.returncode not in allowed:
        reason = ran.stderr.decode(errors="replace").strip()
        raise ReviewError(f"git {shlex.join(words)}: {reason}")
    return ran.stdout


def names_in(listed: bytes) -> set[str]:
    """The names of a list by git, which are bytes that need not be UTF-8."""
    return set(filter(None, os.fsdecode(listed).split("\0")))


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
        edited = names_in(git("diff", *flags, self.base, self.head))
        changes = []
        for name in sorted(self.users_of(edited, specs) - edited):
            try:
                model = self.read(1, name)
            except ReviewError:
                continue
            if edited.intersection(data_names(model, name)):
                changes.append(Change(name, name))
        return changes

    def users_of(self, edited: set[str], specs: list[str]) -> set[str]:
        """The models whose bytes may name an edited file, which git finds without filters."""
        last = {os.fsencode(PurePosixPath(name).name) for name in edited}
        # Names with a line break cannot be patterns of lines.
        last = {name for name in last if b"\n" not in name}
        if not last:
            return set()
        models = self.grep(b"\n".join(sorted(last)), self.head, specs)
        pointers = self.grep(POINTER, self.head, specs)
        # Only the filter of Git LFS knows the contents of its models, and downloads them. Their
        # data are files of Git LFS, too.
        if pointers and self.has_pointer(sorted(edited)):
            models |= pointers
        return models

    def has_pointer(self, names: list[str]) -> bool:
        """Return whether one of the files is a pointer of Git LFS in either revision."""
        literal = [f":(top,literal){name}" for name in names]
        # A command line has a limited length.
        parts = [literal[start : start + 500] for start in range(0, len(literal), 500)]
        sides = (self.base, self.head)
        return any(self.grep(POINTER, side, part) for part in parts for side in sides)

    @staticmethod
    def grep(lines: bytes, revision: str, specs: list[str]) -> set[str]:
        """The files of a revision that contain one of the lines anywhere."""
        flags = ["-l", "-z", "--text", "--fixed-strings", "--full-name", "-f", "-"]
        # Status 1 means none; each name follows the revision.
        listed = git("grep", *flags, revision, "--", *specs, given=lines, allowed=(0, 1))
        return {name.removeprefix(f"{revision}:") for name in names_in(listed)}

    def place(self, side: int, name: str) -> list[str]:
        """The words by which git finds a file, through links inside of the repository."""
        place = f"{(self.base, self.head)[side]}:{name}"
        if "\n" in name:
            return [place]
        words = ["cat-file", "--batch-check", "--follow-symlinks"]
        answer = git(*words, given=os.fsencode(place) + b"\n")
        if target := re.fullmatch(rb"([0-9a-f]{40,}) blob \d+\n", answer):
            return [f"--path={name}", target[1].decode()]
        if answer.startswith((b"symlink ", b"dangling ", b"loop ", b"notdir ")):
            raise ReviewError(f"{place}: expected a file, got a link to no file of the revision")
        return [place]

    def save(self, side: int, name: str, path: Path) -> None:
        """Write a version of a file, which may be larger than the memory."""
        words = ["git", "cat-file", "--filters", *self.place(side, name)]
        with path.open("wb") as file:
            ran = subprocess.run(words, stdout=file, stderr=subprocess.PIPE, check=False)
        if ran.returncode != 0:
            reason = ran.stderr.decode(errors="replace").strip()
            raise ReviewError(f"{shlex.join(words)}: {reason}")

    def read(self, side: int, name: str) -> bytes:
        """A version of a file; pointers of Git LFS are followed if it is set up."""
        return git("cat-file", "--filters", *self.place(side, name))


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
            before, after = (name if is_file(side / name) else None for side in self.sides)
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
        except (ReviewError, OSError):
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
            if is_file(path) and (any(whole) or any(last)):
                found.add(name)
        return found

    def place(self, side: int, name: str) -> Path:
        """The file, through links inside of the folder; a file given by name may be anywhere."""
        path = self.folders[side] / name
        if path == self.sides[side]:
            return path
        try:
            folder, target = self.folders[side].resolve(), path.resolve(strict=True)
        except RuntimeError as error:
            # Python before 3.13 reports circles of links so.
            raise ReviewError(f"{path}: {error}") from None
        if not target.is_relative_to(folder):
            raise ReviewError(f"{path}: a link out of the folder")
        return target

    def save(self, side: int, name: str, path: Path) -> None:
        """Write a version of a file, which may be larger than the memory."""
        shutil.copyfile(self.place(side, name), path)

    def read(self, side: int, name: str) -> bytes:
        """A version of a file."""
        return self.place(side, name).read_bytes()


def is_file(path: Path) -> bool:
    """Return whether a folder has a file, or a link in place of a file, which may lead nowhere."""
    return path.is_file() or (path.is_symlink() and not path.is_dir())


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


def check_options(options: list[str]) -> None:
    """Raise if the command does not understand the options, or does not run at all.

    With files that are not there, an understood command line ends with the name of the first.
    """
    first, second = "no-such-file.isoform-review", "isoform-review.no-such-file"
    with tempfile.TemporaryDirectory() as folder:
        words = ["diff", *COMPARING, f"{folder}/page.html", *options, "--", first, second]
        ran = isoform(Path(folder), *words)
    if ran.returncode <= DIFFERENT or first not in ran.stderr:
        reason = ran.stderr.strip() or "expected options that compare two files"
        raise ReviewError(f"isoform diff {shlex.join(options)}: {reason}")


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
        words = ["diff", *COMPARING, str(page.resolve())]
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
