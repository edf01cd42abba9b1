"""Python code that runs in another process."""

import subprocess
import sys


def output_of(code, text=True):
    """The output of code, as str or bytes; the code has to succeed."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=text, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
