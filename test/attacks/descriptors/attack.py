"""Looks for descriptors that choir inherited from what started it."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
from lib import *

look = "for f in /proc/self/fd/*; do n=${f##*/}; [ $n -gt 2 ] && [ -n \"$(readlink $f)\" ] && echo FD $n $(readlink $f); done; python3 -c 'import os; print(os.pread(40, 200, 0))'; ls /proc/self/fd/41/"
outside = subprocess.run(["bash", "-c", look], pass_fds=INHERITED, capture_output=True, text=True)
control("inherited descriptors", SECRET in outside.stdout and "etc" in outside.stdout and "FD 42 socket" in outside.stdout)
result, out = sandbox(look + "; true")
ours = [l for l in out.splitlines() if l.startswith("FD ") and not l.endswith("/proc/self/fd") and "/proc/" not in l and "pipe:" not in l]
attack("inherited descriptors", SECRET in out or bool(ours), ours)
attack("inherited descriptors", "proc" in out.splitlines()[-5:] or "\nroot\n" in out, "the host's root folder")
