"""Tries to land a change without the owner's approval, or another one than the owner is shown.

The program runs itself again in a network of its own, in which a canary hears what arrives. In it
a choir of its own runs, whose rules hold some of what tasks do.
"""
import sys; sys.path.insert(0, sys.path[0] + "/.."); sys.path.insert(0, sys.path[0] + "/egress")
import os

if "APPROVALS_WORLD" not in os.environ:
    os.environ["APPROVALS_WORLD"] = "1"
    os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, *sys.argv])

import lib
from lib import *
import shutil, signal, tempfile
from canary import Canary

GOOD, VICTIM = "11.22.33.55", "11.22.33.44"
canary = Canary([GOOD, VICTIM], {"good.test": [GOOD], "victim.test": [VICTIM]})
RULES = """
[[approve]]
path = "app/guarded/**"
[[approve]]
path = "app/linked/**"
[[approve]]
lines = 50
[[approve]]
files = 12
[[approve]]
egress = "victim.test"
"""


def events(task):
    return [e for e in map(json.loads, choir("log", "--json").stdout.splitlines()) if e.get("task") == task]


def begin(script):
    """Submits a task in the project; returns its id when it is held or over, and what the owner is shown: None if it is not held."""
    task = {"version": 1, "kind": "edit_repo", "repo": "app", "instruction": "attack", "commands": [{"argv": ["bash", "-c", script]}], "time_budget_s": 120 * SLOWER, "verify_profile": {"mode": "none"}}
    status, answer = api("POST", base() + "/tasks", task)
    assert status < 300, answer
    id = json.loads(answer)["task"]

    def look():
        status, answer = api("GET", f"{base()}/approvals/{id}")
        return ("held", json.loads(answer)) if status == 200 else [("over", None) for e in events(id) if e["type"] == "task.returned"][:1]

    found = eventually(look, 150 * SLOWER, 0.2)
    assert found, "the task does not end"
    return id, found[1] if found[0] == "held" else None


def settle(id, answer="refuse"):
    """Answers a held task and waits until it has its result."""
    p = choir(answer, id)
    assert eventually(lambda: any(e["type"] == "task.returned" for e in events(id)), 60), p.stderr


def tried(promise, name, script):
    """Reports whether a task is held that should be."""
    id, shown = begin(script)
    attack(promise, shown is None, name)
    if shown:
        settle(id)
    return shown


def holds(promise, script, plain):
    """Shows that a task is held for what it does, and that another one is not."""
    id, shown = begin(script)
    control(promise, bool(shown), "it is not held")
    if shown:
        settle(id)
    control(promise, begin(plain)[1] is None, "all is held")


ASK = r"""
import os, socket, sys
door = os.environ["http_proxy"].split("//")[1].split(":") if sys.argv[1] == "marked" else ["127.0.0.1", "8801"]
for host in sys.argv[2:]:
    s = socket.create_connection((door[0], int(door[1]))); s.settimeout(20)
    s.sendall(f"GET http://{host}/asked HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    while s.recv(4096): pass
"""
# Sends by a tunnel, says so and keeps the tunnel open; for others too who come to a port.
KEEP_OPEN = r"""
import socket, sys, time
other = socket.create_server(("127.0.0.1", 7777)) if sys.argv[1:] == ["other"] else None
s = socket.create_connection(("127.0.0.1", 8801)); s.settimeout(20)
s.sendall(b"CONNECT good.test:80 HTTP/1.1\r\nHost: good.test:80\r\n\r\n"); s.recv(4096)
s.sendall(b"GET /asked HTTP/1.1\r\nHost: good.test\r\n\r\n"); s.recv(4096)
if other:
    print("open", flush=True)
    for _ in range(2):
        one = other.accept()[0]
        s.sendall(one.recv(4096)); one.sendall(b"sent")
else: open(sys.argv[1], "w").close(); time.sleep(100)
"""
# Has the tunnel of another task send for it; "end" ends that task.
HAND_OVER = r"""
import socket, sys, time
for _ in range(600):
    try: s = socket.create_connection(("127.0.0.1", 7777)); break
    except OSError: time.sleep(0.1)
s.sendall(b"GET /handed-over HTTP/1.1\r\nHost: good.test\r\n\r\n"); print(s.recv(10))
"""
LOOK_UP = r"""
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(10)
s.sendto(b"\x12\x34\x01\0\0\1\0\0\0\0\0\0\6victim\4test\0\0\1\0\1", ("127.0.0.1", 53)); s.recv(500)
"""


def ask(how, *hosts):
    return f"python3 - {how} {' '.join(hosts)} <<'E'\n{ASK}E\n"


def keep_open():
    return f"cat > $TMPDIR/keep.py <<'E'\n{KEEP_OPEN}E\n(setsid python3 $TMPDIR/keep.py $TMPDIR/sent >/dev/null 2>&1 &); while [ ! -e $TMPDIR/sent ]; do sleep 0.1; done\n"


def wanted():
    """Wants a host that a rule names without being held for it, and hides one that was reached."""
    promise = "a host that a rule names"
    many = [f"n{i}.test" for i in range(300)]
    for name, how in [("as a program of no task", ask("unmarked", "victim.test")), ("so once more", ask("unmarked", "victim.test")), ("by a resolver without its mark", f"python3 - <<'E'\n{LOOK_UP}E\n"),
                      ("behind 300 others", ask("marked", *many, "victim.test"))]:
        tried(promise, name, "echo x >> a.txt; " + how)
        attack(promise, any(h.address == VICTIM for h in canary.heard()), name + ": it was reached")
    holds(promise, "echo x >> a.txt; " + ask("marked", "victim.test"), "echo x >> a.txt; " + ask("marked", "good.test"))
    control(promise, any(h.address == GOOD for h in canary.heard()))
    promise = "a host that was reached is shown"
    for name, how in [("behind 70 others", ask("marked", *many[:70], "good.test")), ("as a program of no task", ask("unmarked", "good.test")), ("by a tunnel that stays open", keep_open())]:
        shown = tried(promise, name, "echo x >> guarded/x; " + how) or {"hosts": []}
        attack(promise, not any(h["host"] == "good.test" and h.get("sent") for h in shown["hosts"]), f"{name}: {shown['hosts'][-3:]}")
    if CONFINED:  # else no two tasks work at once
        task = {"version": 1, "kind": "edit_repo", "repo": "other", "instruction": "attack", "commands": [{"argv": ["python3", "-c", KEEP_OPEN, "other"]}], "time_budget_s": 120 * SLOWER, "verify_profile": {"mode": "none"}}
        assert api("POST", base() + "/tasks", task)[0] < 300
        hand_over = f"python3 - <<'E'\n{HAND_OVER}E\n"
        shown = tried(promise, "by a tunnel of another task that stays open", "echo x >> guarded/x; " + hand_over) or {"hosts": []}
        attack(promise, not any(h["host"] == "good.test" and h.get("sent") for h in shown["hosts"]), f"by a tunnel of another task that stays open: {shown['hosts'][-3:]}")
        settle(begin("echo x >> guarded/x; " + hand_over)[0])
    shown = tried(promise, "itself", "echo x >> guarded/x; " + ask("marked", "good.test")) or {"hosts": []}
    control(promise, [h["host"] for h in shown["hosts"]] == ["good.test"], shown["hosts"])


# What a change is made of, and words that the owner must be shown for it.
HIDDEN = {
    "a file where a folder was": ("rm -r folder; printf 'evil\\n' > folder", "+evil"),
    "a file where an empty folder was": ("rmdir empty; printf 'evil\\n' > empty", "+evil"),
    "a link to what the file says": ("rm same; ln -s target same", "new mode 120000"),
    "a link to the file beside it": ("ln -s a.txt link", "new file mode 120000"),
    "a file that can be run": ("chmod +x script", "new mode 100755"),
    "a file that is run as its owner": ("chmod 4755 script", "new mode 104755"),
    "a hook of git": ("printf 'evil\\n' > .git/hooks/post-checkout", "+evil"),
    "settings of git": ("git config core.fsmonitor evil", "fsmonitor = evil"),
    "attributes of git": ("mkdir -p .git/info; echo '* filter=evil' > .git/info/attributes", "+* filter=evil"),
    "a program in a folder of git": ("mkdir -p lib/.git; printf 'evil\\n' > lib/.git/evil.py", "+evil"),
    "a name that is lines of a diff": ("printf 'evil\\n' > $'a\\n+++ b-a.txt\\n@@ -1 +1 @@\\n-one\\n+two'", "\\n@@ -1 +1 @@\\n-one\\n+two\n@@"),
    "a name that reads backwards": ("printf 'evil\\n' > $'x\\u202etxt.exe'", "+evil"),
    "a link of another name": ("ln a.txt hard; printf 'evil\\n' >> hard", "+evil"),
    "a change without a new time": ("touch -r same $TMPDIR/t; printf 'evil00\\n' > same; touch -r $TMPDIR/t same", "+evil00"),
}


def hidden():
    """Changes what the owner may not be shown."""
    promise = "the change is shown"
    for name, (script, words) in HIDDEN.items():
        shown = tried(promise, name, "printf x >> guarded/x; " + script) or {"diff": []}
        attack(promise, words not in "\n".join(f["path"] + "\n" + f.get("diff", "") for f in shown["diff"]), f"{name}: {shown['diff']}")
    shown = tried(promise, "an honest one", "echo honest >> guarded/x") or {"diff": []}
    control(promise, any("+honest" in f.get("diff", "") for f in shown["diff"]) and len(shown["diff"]) == 1, shown)


def sizes():
    """Makes a large change that looks small, and one below a path that a rule names."""
    promise = "a rule about sizes"
    tried(promise, "one line of 100,000 characters", "head -c 100000 /dev/zero | tr '\\0' x > long")
    tried(promise, "files where folders were", "cd many; for d in *; do rmdir $d; seq 10 > $d; done")
    holds(promise, "seq 60 > sixty", "seq 40 > forty")
    promise = "a rule about a path"
    tried(promise, "a link at the folder", "ln -s elsewhere linked; mkdir elsewhere; echo evil > elsewhere/x")
    holds(promise, "mkdir linked; echo evil > linked/x", "mkdir -p elsewhere; echo x >> elsewhere/x")


def landed():
    """Changes what was decided about after the decision, and answers in the owner's name."""
    promise = "what lands is what was shown"
    leaves = "(setsid bash -c 'while :; do echo later > a.txt; echo later > guarded/late; done' >/dev/null 2>&1 &) ; echo shown > guarded/late; echo shown > a.txt"
    id, shown = begin(leaves)
    says = {f["path"].removeprefix("workspace/app/"): f.get("diff", "") for f in (shown or {"diff": []})["diff"]}
    settle(id, "approve")
    for name in ("a.txt", "guarded/late"):
        # It may be empty: the program was cut off between emptying and writing it.
        got = there(name)[1].decode().split()
        added = [l[1:] for l in says.get(name, "").splitlines() if l.startswith("+") and not l.startswith("+++")]
        attack(promise, name not in says or got[-1:] != added[-1:], f"{name}: {got} in place of {says}")
    control(promise, there("guarded/late")[0] == 200, "it did not land")
    promise = "an answer that the sandbox writes"
    id, shown = begin("echo mine > guarded/mine")
    path, body = f"{base()}/approvals/{id}", json.dumps({"answer": "approve"})
    post = lambda target: f"POST {target} HTTP/1.1\r\nHost: choir\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nX-Choir-Role: cli\r\nAuthorization: Bearer owner\r\nConnection: close\r\n\r\n{body}"
    for target in (path, f"http://{lib.ORIGIN}{path}", "/choir/v1" + path, "/choir/names/approvals"):
        _, out = sandbox("", argv=["python3", "-c", f"import socket\ns = socket.create_connection(('127.0.0.1', 8801)); s.settimeout(10)\ns.sendall({post(target).encode()!r})\nprint(s.recv(300))"])
        attack(promise, there("guarded/mine")[0] == 200 or "200 OK" in out, f"{target}: {out}")
    status, answer = api("POST", path, json.loads(body))
    control(promise, status == 200 and there("guarded/mine")[0] == 200, answer)


def there(name):
    """Reads a file of the project as the owner, on every rung; returns (status, bytes)."""
    return api("GET", f"{base()}/files/workspace/app/{name}")


lib.DATA = tempfile.mkdtemp(prefix="choir-approvals-", dir="/var/tmp")
os.chmod(lib.DATA, 0o711)
with open(lib.DATA + "/choir.toml", "w") as f:
    f.write(lib.SETTINGS + "\n[listen]\naddress = '127.0.0.1:0'\n[egress]\nmode = 'allowlist'\n" + "".join(f"[[egress.allowlist]]\nhost = '{h}'\nport = 80\n" for h in ("good.test", "victim.test")) + RULES)
up = subprocess.Popen([CHOIR, "up", "--json", "--data", lib.DATA], stdout=subprocess.PIPE)
try:
    lib.ORIGIN = json.loads(up.stdout.readline())["address"].removeprefix("http://")
    with tempfile.TemporaryDirectory() as top:
        made = subprocess.run(["bash", "-ec", "git init -q -b main app; cd app; mkdir guarded folder; echo one > a.txt; echo target > same; echo echo > script; echo in > folder/in; echo x > guarded/x; git add -A; git -c user.name=a -c user.email=a@b commit -qm one; mkdir empty many; mkdir many/{1..9}"], cwd=top)
        assert made.returncode == 0
        for name in ("app", "other"):
            added = choir("repo", "add", "--name", name, top + "/app")
            assert added.returncode == 0, added.stderr
    for part in (wanted, hidden, sizes, landed):
        part()
finally:
    up.send_signal(signal.SIGTERM)
    up.wait(60)
    shutil.rmtree(lib.DATA, ignore_errors=True)
