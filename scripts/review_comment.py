"""The comment of a review: its text, and the one comment of a pull request that has it."""

from __future__ import annotations

import html
import json
import re
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

from review_compare import Change, ReviewError, unicode

# The longest comment that GitHub accepts has 65,536 characters.
LIMIT = 60_000

# The number of times that a server is asked that fails, and the seconds before the second time.
TRIES = 3
PAUSE = 1


# --------------------------------------------------------------------------------------
# The text
# --------------------------------------------------------------------------------------


def marker(title: str) -> str:
    """The first line of the comment, which identifies the comment of an earlier run.

    The signs of a title are escaped, not left out: different titles have different markers.
    """
    return f"<!-- isoform-review: {quote(title, safe=' ')} -->"


def code(name: str) -> str:
    """A name as code in a cell of a table."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    return f"<code>{html.escape(text).replace('|', '&#124;')}</code>"


def summary(title: str, changes: list[Change], link: str) -> str:
    """The text for the pull request, short enough for a comment."""
    title = " ".join(unicode(title).split())
    heads = [marker(title), f"### {title}", ""]
    if not changes:
        return "\n".join([*heads, "No model changed."]) + "\n"
    counts: dict[str, int] = {}
    for change in changes:
        counts[change.verdict] = counts.get(change.verdict, 0) + 1
    counted = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    heads += [f"**{len(changes)} changed: {counted}.**", "", "| file | verdict |", "|---|---|"]
    rows = [f"| {code(change.name)} | {change.verdict} |" for change in changes]
    has_pages = any(change.page for change in changes)
    tail = "\n"
    if link and has_pages:
        tail = f"\nThe pages with all changes are an artefact of [this run]({link}).\n"
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


# --------------------------------------------------------------------------------------
# The pull request
# --------------------------------------------------------------------------------------


class GitHubError(ReviewError):
    """A call of GitHub that failed; the text is what `gh` says."""


def gh(*words: str) -> str:
    """The output of the command line of GitHub."""
    ran = subprocess.run(
        ["gh", "api", *words], capture_output=True, text=True, encoding="utf-8", check=False
    )
    if ran.returncode != 0:
        raise GitHubError(f"gh api: {ran.stderr.strip()}")
    return ran.stdout


def earlier_comment(issue: str, mark: str) -> str | None:
    """The comment of an earlier run: of a bot, because anybody can write the marker."""
    query = ".[] | [.id, .user.type, .body] | @json"
    for line in gh("--paginate", f"{issue}/comments", "--jq", query).splitlines():
        number, kind, body = json.loads(line)
        if kind == "Bot" and body.startswith(mark):
            return str(number)
    return None


def write_comment(issues: str, number: int, summary_file: Path) -> str:
    """Write or update the comment once; returns the deed."""
    mark = summary_file.read_text(encoding="utf-8").split("\n", 1)[0]
    body = ["-F", f"body=@{summary_file}"]
    earlier = earlier_comment(f"{issues}/{number}", mark)
    if earlier is None:
        gh("--method", "POST", f"{issues}/{number}/comments", *body)
        return "wrote a comment"
    gh("--method", "PATCH", f"{issues}/comments/{earlier}", *body)
    return "updated the comment"


def comment(repository: str, number: int, summary_file: Path) -> None:
    """Write or update the comment of a pull request.

    A server that fails may have written the comment all the same, so each try looks for the
    comment first.
    """
    for tried in range(1, TRIES + 1):
        try:
            print(write_comment(f"repos/{repository}/issues", number, summary_file))
            return
        except GitHubError as error:
            if re.search(r"HTTP 40[134]|Resource not accessible", str(error)):
                print(
                    "::notice::No permission to comment, as in pull requests from forks; the "
                    "summary is on the page of this run."
                )
                return
            if tried == TRIES or not re.search(r"HTTP 5\d\d", str(error)):
                raise
            time.sleep(PAUSE * tried)
