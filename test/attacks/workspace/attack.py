"""Fills the workspace with what is cheap to make and dear to read, and takes the computer back."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
from lib import *

ACCEPTED = 2.0 * SLOWER  # seconds until stop, rewind, terminals and deletion are accepted
FILL = {
    "a file of 8 TB without blocks": ("truncate -s 8T /workspace/sparse", "rm -f /workspace/sparse"),
    "folders 20,000 deep": ("python3 -c \"\nimport os\nos.makedirs('/workspace/deep',exist_ok=True)\nos.chdir('/workspace/deep')\nfor i in range(20000):\n  os.mkdir('d'); os.chdir('d')\n\"",
                            "rm -rf /workspace/deep"),
    "30,000 files of one folder": ("mkdir -p /workspace/many && cd /workspace/many && seq 30000 | xargs touch", "rm -rf /workspace/many"),
    "8 TB in the place of a file": ("truncate -s 8T /workspace/workspace/before.txt", ""),
    "modes that let nobody in": ("cd /workspace/workspace && mkdir -p shut/in && echo x > shut/in/f && echo lost > before.txt && chmod 000 before.txt shut/in/f shut/in shut",
                                 "chmod -R 700 /workspace/workspace/shut; rm -rf /workspace/workspace/shut"),
}

if RUNG == "gvisor":
    # Where the machine allows the gofer few open files; choir doctor says it then.
    del FILL["folders 20,000 deep"]
    limit("rewind", "the gofer has a file open for each folder on the way to one that is in use, and a machine may allow too few")


def terminal_runs(script, seconds=120):
    """Opens a terminal, which needs no look at the tree, and types a script into it."""
    status, raw = api("POST", base() + "/terminals", {"size": {"rows": 24, "cols": 80}})
    if status >= 300:
        return False
    return json.loads(raw).get("id") or json.loads(raw).get("terminal")


def disk():
    return int(subprocess.run(["du", "-sk", DATA + "/computers"], capture_output=True, text=True).stdout.split()[0])


def listed():
    status, raw = api("GET", base() + "/folder?path=", timeout=10 * SLOWER)
    return status == 200


api("PUT", base() + "/files/workspace/before.txt", b"before\n", If_None_Match="*")
head = json.loads(api("GET", base())[1])["head"]
api("PUT", base() + "/files/workspace/before.txt", b"after\n", If_Match="*")
p, took = within(60, lambda: choir("rewind", str(head), timeout=60 * SLOWER))
content = api("GET", base() + "/files/workspace/before.txt")[1]
control("rewind", not isinstance(p, Exception) and p.returncode == 0 and content == b"before\n", f"{took:.2f} s")
control("host's disk", disk() > 0)

for name, (fill, _) in FILL.items():
    head = json.loads(api("GET", base())[1])["head"]
    size = disk()
    sandbox_result = None
    # The task itself may be refused with a reason; what counts is that it ends.
    got, took = within(90, lambda: sandbox(fill, budget=60))
    ended = not isinstance(got, Exception) and got[0].get("status") in ("ok", "failed")
    attack("rewind", not ended, f"a task that makes {name} ends: {took:.1f} s {got[0].get('code', '') if ended else got}")
    got, took = within(ACCEPTED, lambda: api("POST", base() + "/terminals", {}, timeout=30))
    attack("rewind", isinstance(got, Exception) or got[0] >= 300 or took > ACCEPTED, f"a terminal with {name}: {took:.2f} s {got[0] if not isinstance(got, Exception) else got}")
    got, took = within(ACCEPTED, listed)
    attack("rewind", got is not True or took > ACCEPTED, f"a listing with {name}: {took:.2f} s")
    p, took = within(60, lambda: choir("rewind", str(head), timeout=60 * SLOWER))
    attack("rewind", isinstance(p, Exception) or p.returncode != 0, f"a rewind with {name}: {took:.1f} s {'' if isinstance(p, Exception) else (p.stdout + p.stderr)[-200:]}")
    content = api("GET", base() + "/files/workspace/before.txt")[1]
    attack("rewind", content != b"before\n", f"a file's content after a rewind with {name}: {content[:80]}")
    attack("host's disk", disk() - size > 512 * 1024, f"{name}: {(disk() - size) // 1024} MiB more on the host")
