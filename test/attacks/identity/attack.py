"""Becomes the role at the egress door by reuse of its process number (CVE class: pid reuse)."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
import threading
from lib import *

if RUNG == "gvisor":
    limit("the role's identity", "a fork takes the sentry some milliseconds, so 65,536 numbers are not used up in time")
    sys.exit()



def most():
    return int(sandbox("cat /proc/sys/kernel/pid_max")[1].strip() or 0)


def lower():
    """Lowers the numbers of processes in the sandbox, where they are its own (Linux 6.14), from the host."""
    mark = "attack-identity-%d" % os.getpid()
    task = threading.Thread(target=sandbox, args=(f"exec -a {mark} sleep 8",))
    task.start()
    lines = lambda: [pid for pid in filter(str.isdigit, os.listdir("/proc")) if within(1, lambda: open(f"/proc/{pid}/cmdline", "rb").read())[0] == mark.encode() + b"\08\0"]
    for pid in eventually(lines, 20) or []:
        subprocess.run(["nsenter", "-t", pid, "-p", "sh", "-c", "echo 32768 > /proc/sys/kernel/pid_max"])
    task.join()


if most() > 32768 and RUNG != "microvm" and int(open("/proc/sys/kernel/pid_max").read()) != most():
    lower()  # the numbers in the sandbox are not the host's, which stays as it is
if most() > 32768:
    limit("the role's identity", f"processes have numbers up to {most()} here, which are not used up in time")
    sys.exit()

# Each line is how the role's path answers connections that a tool opened.
_, out = sandbox(compiled("pidreuse.c", "60", "31300", "4"), budget=280)
control("the role's identity", "before: " in out, out)
attack("the role's identity", "HIT" in out, out[-300:])
