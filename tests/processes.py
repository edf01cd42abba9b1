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


FORKS = """
import os, sys
import isoform
for code in {codes}:
    if os.fork() == 0:
        exec(code)
        sys.exit()
    assert os.wait()[1] == 0
    print("{end}", flush=True)
"""


def outputs_of(*codes):
    """The outputs of codes, each in a fork of a process that has imported isoform."""
    end = "the end of an output"
    return output_of(FORKS.format(codes=codes, end=end)).split(f"{end}\n")[:-1]
