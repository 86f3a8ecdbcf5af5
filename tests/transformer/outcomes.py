"""What pieces of code return or raise, each evaluated in a process without the hook that checks every annotation."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

EVALUATION = """
outcomes = {}
for code in json.load(sys.stdin):
    try:
        outcomes[code] = ["nothing", repr(eval(code))]
    except Exception as error:
        outcomes[code] = [type(error).__name__, str(error)]
json.dump(outcomes, sys.stdout)
"""


def outcomes_of(setup: str, snippets: Sequence[str]) -> dict[str, list[str]]:
    """For each snippet, the name and message of its error, or `nothing` and the `repr` of its value.

    Args:
        setup: code that runs first; it imports `json` and `sys`.
        snippets: expressions.
    """
    process = subprocess.run(
        [sys.executable, "-c", setup + EVALUATION],
        input=json.dumps([*snippets]),
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)
