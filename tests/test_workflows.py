"""The steps of the workflows: what they call exists, and what runs anywhere does here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
# Actions whose code runs on the machines of a release; each is looked at before it is added.
ACTIONS = {
    "actions/attest-build-provenance@v2",
    "actions/checkout@v4",
    "actions/deploy-pages@v4",
    "actions/download-artifact@v4",
    "actions/setup-python@v5",
    "actions/upload-artifact@v4",
    "actions/upload-pages-artifact@v3",
    "PyO3/maturin-action@v1",
    "pypa/gh-action-pypi-publish@release/v1",
    "rust-lang/crates-io-auth-action@v1",
}


def jobs(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


def steps(path):
    return [step for job in jobs(path).values() for step in job.get("steps", [])]


def step(path, name):
    (found,) = [
        step for step in steps(ROOT / ".github" / "workflows" / path) if step.get("name") == name
    ]
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_workflow_calls_exists(path):
    for found in steps(path):
        assert found.get("uses") in {None, *ACTIONS}
        command = found.get("run", "")
        for target in re.findall(r"\bmake ([a-z-]+)", command):
            assert target in TARGETS
        for script in re.findall(r"\b(?:scripts|tests)/[\w./-]+", command):
            assert (ROOT / script).is_file()
        for package in re.findall(r" -p ([\w-]+)", command):
            assert f'name = "{package}"' in (ROOT / "Cargo.lock").read_text()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_few_permissions_and_an_end(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert "uses" in job or job.get("timeout-minutes", 0) <= 340, name


def version_of_crates():
    return re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def test_both_packages_have_one_version():
    assert f'"isoform-remote=={version_of_crates()}"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize(("tag", "status"), [("v{}", 0), ("v{}.1", 1), ("{}-v", 1)])
def test_a_tag_has_to_be_the_version(tag, status):
    version = version_of_crates()
    command = step("release.yml", "The tag is the version of the crates")["run"]
    done = subprocess.run(
        ["bash", "-eu", "-c", command], cwd=ROOT, env={"TAG": tag.format(version)}, check=False
    )
    assert done.returncode == status


def test_every_version_of_python_gets_a_wheel():
    line = (ROOT / "scripts" / "check_wheels.py").read_text(encoding="utf-8")
    versions = re.findall(r'"(.*?)"', re.search(r"^VERSIONS = \[(.*)\]$", line, re.MULTILINE)[1])
    (job, _) = jobs(ROOT / ".github" / "workflows" / "wheels.yml").values()
    installed = next(
        s for s in job["steps"] if s.get("uses", "").startswith("actions/setup-python")
    )
    assert sorted(installed["with"]["python-version"].split()) == sorted(versions)
    arguments = step("wheels.yml", "Build")["with"]["args"]
    assert arguments.partition(" --interpreter ")[2].split() == versions
    # The client of servers: the oldest version stands for all with a GIL.
    arguments = step("wheels.yml", "Build the client of servers")["with"]["args"]
    without_gil = [version for version in versions if version.endswith("t")]
    assert arguments.partition(" --interpreter ")[2].split() == [versions[0], *without_gil]


def test_what_a_workflow_tries_works_here():
    """The shell of the step that uses the package, with the package of this environment."""
    command = step("platforms.yml", "The command and a comparison")["run"]
    lines = [line for line in command.splitlines() if line.startswith("python -c ")]
    assert len(lines) == 1
    line = lines[0].replace("python", sys.executable, 1)
    subprocess.run(["bash", "-eu", "-c", line], check=True)
