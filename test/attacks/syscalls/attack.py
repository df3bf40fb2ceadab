"""Makes the system calls that lead out of a sandbox, and connects to its inner sockets."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
from lib import *

role = "$(for p in /proc/[0-9]*; do [ \"$(tr -d '\\0' <$p/cmdline)\" = choir-associate ] && echo ${p#/proc/}; done | head -1)"
_, out = sandbox(compiled("probe.c", role))
lines = [l.split("|") for l in out.splitlines() if l.count("|") == 2]
allowed = [name for kind, name, what in lines if kind == "allow" and what == "ALLOWED"]
control("system calls", len(allowed) == 5, out if not lines else allowed)
for kind, name, what in lines:
    if kind == "refuse":
        attack("system calls", what == "ALLOWED", f"{name}: {what}")
