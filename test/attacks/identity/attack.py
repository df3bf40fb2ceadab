"""Becomes the role at the egress door by reuse of its process number (CVE class: pid reuse)."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
from lib import *

if RUNG == "gvisor":
    limit("the role's identity", "a fork takes the sentry some milliseconds, so 65,536 numbers are not used up in time")
    sys.exit()

most = int(sandbox("cat /proc/sys/kernel/pid_max")[1].strip() or 0)
if most > 40000:
    limit("the role's identity", f"processes have numbers up to {most} here, which are not used up in time")
    sys.exit()

# Each line is how the role's path answers connections that a tool opened.
_, out = sandbox(compiled("pidreuse.c", "60", "31300", "4"), budget=280)
control("the role's identity", "before: " in out, out)
attack("the role's identity", "HIT" in out, out[-300:])
