"""Reads and writes the host's files by name from a tool."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
from lib import *

read = ["/etc/shadow", "/root/.profile", DATA + "/owner.json", DATA + "/choir.sock", os.path.dirname(DATA), "/proc/1/environ", "/proc/1/mem", "/sys/kernel", "/proc/cmdline"]
write = ["/usr/attack", "/etc/attack", "/run/attack", "/dev/attack", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/opt/choir/attack"]
script = "\n".join(
    [f"if [ -s '{p}' ] && head -c 1 '{p}' >/dev/null 2>&1 || [ -n \"$(ls -A '{p}' 2>/dev/null)\" -a -d '{p}' ]; then echo 'READ {p}'; fi" for p in read + ["/usr/bin/env"]]
    + [f"if (: >>'{p}') 2>/dev/null; then echo 'WROTE {p}'; fi" for p in write + ["/workspace/attack"]] + ["rm -f /workspace/attack"])
result, out = sandbox(script)
control("host files", "READ /usr/bin/env" in out, result.get("status"))
for p in read:
    if p == "/proc/cmdline":
        continue
    broken = f"READ {p}\n" in out
    attack("host files", broken, p)
control("writing outside", "WROTE /workspace/attack" in out)
for p in write:
    attack("writing outside", f"WROTE {p}\n" in out, p)

# The kernel's own command line may hold what an administrator put there.
_, line = sandbox("cat /proc/cmdline")
with open("/proc/cmdline") as f:
    host = f.read().strip()
control("kernel command line", len(host) > 0)
attack("kernel command line", bool(host) and host in line, line)
