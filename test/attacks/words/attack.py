"""Gives a file a name that drives a terminal, and lets the CLI print it."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
from lib import *

NAME = b"\x1b]0;PWNED\x07\x1b[2J\x1b[31mFAKE: verified\rX \xc2\x9b31m \xe2\x80\xae\xe2\x81\xa6 \x7f"
MARKS = {"ESC": b"\x1b", "BEL": b"\x07", "CR": b"\r", "C1": b"\xc2\x9b", "RLO": b"\xe2\x80\xae", "LRI": b"\xe2\x81\xa6", "DEL": b"\x7f"}
hexed = "".join(f"\\x{b:02x}" for b in NAME)
before = json.loads(api("GET", base())[1])["head"]
result, _ = sandbox(f"mkdir -p workspace/words && cd workspace/words && : >$'{hexed}' && git init -q -b main . && git -c user.name=$'{hexed}' -c user.email=x@x add -A && "
                    f"git -c user.name=x -c user.email=x@x commit -qm $'{hexed}' && printf '{hexed}' && printf '{hexed}' >&2", kind="edit_repo")
task = result.get("task_id", "")
status, raw = api("GET", f"{base()}/folder?path=workspace/words")
control("words of strangers", b"PWNED" in raw, raw[:200])
for args in (["log"], ["diff", str(before)], ["timeline"], ["run"], ["undo", task, "--dry-run"],
             ["rewind", str(before), "--dry-run"], ["repo", "list"], ["computers"], ["doctor"]):
    p = choir(*args)
    said = p.stdout + p.stderr
    found = [n for n, mark in MARKS.items() if mark in said]
    attack("words of strangers", bool(found), f"choir {' '.join(args)}: {found}")
