"""Script verifier of `terminal_report`: recounts the log and compares the table that the agent wrote.

Run as `python -I terminal_report_check.py STATE_DIR`; prints a verdict as JSON (see `verifiers.script`).
"""

import collections
import csv
import json
import pathlib
import sys


def judge(state: pathlib.Path) -> dict[str, object]:
    """The verdict on a state folder."""
    params = json.loads((state / "state.json").read_text())["params"]

    def home(path: str) -> pathlib.Path:
        return state / "home" / path.removeprefix("~/")

    lines = home(params["log"]).read_text().splitlines()
    counts = collections.Counter(line.split()[1] for line in lines if f" {params['word']} " in line)
    want = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    report = home(params["report"])
    if not report.is_file():
        return {"score": 0, "components": {"report": 0}, "reasons": [f"report: no file {params['report']}"]}
    try:
        text = report.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return {"score": 0, "components": {"report": 0}, "reasons": ["report: not a UTF-8 text"]}
    rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if any(map(str.strip, row))]
    got = [tuple(row) for row in rows]
    expected = [(name, str(count)) for name, count in want]
    entries, order = sorted(got) == sorted(expected), got == expected
    reasons = [] if order else [f"report: {got[:8]} instead of {expected[:8]}"]
    return {"score": int(order), "components": {"entries": int(entries), "order": int(order)}, "reasons": reasons}


if __name__ == "__main__":
    print(json.dumps(judge(pathlib.Path(sys.argv[1]))))
