"""Helpers for attack programs: report findings, reach the choir under attack.

An attack program is test/attacks/NAME/attack.py. The runner (tools/attack)
starts one choir for all of them and gives each program these variables:

    CHOIR    the binary              DATA     its data folder
    ORIGIN   host:port of the web    BILL     address of the model provider
    SECRET   words that must never be read from inside
    RUNG     the rung of the isolation ladder, such as local
    CONFINED what keeps a task in its project, such as landlock; empty for nothing
    SETTINGS keys of the configuration, in TOML, of a choir on that rung
    SLOWER   how many times as long as on this machine programs take in the sandbox

and, inherited as descriptors 40, 41 and 42 like choir itself: a file with SECRET
that only root may read, the host's root folder, and a connected socket.

A program prints one line for each promise that it tries to break:

    control NAME: ok|failed DETAIL    the same act where it must succeed
    attack NAME: held|broken DETAIL

    limit NAME: REASON                what this rung does not promise, and docs/THREATS.md says so

An attack without a control of its name that is ok counts as broken.
"""
import base64, gzip, http.client, json, os, socket, subprocess, sys, tempfile, time

CHOIR, DATA, SECRET = os.environ["CHOIR"], os.environ["DATA"], os.environ["SECRET"]
ORIGIN, BILL = os.environ["ORIGIN"], os.environ["BILL"]
RUNG, CONFINED, SETTINGS = os.environ["RUNG"], os.environ["CONFINED"], os.environ["SETTINGS"]
SLOWER = int(os.environ["SLOWER"])
INHERITED = (40, 41, 42)


def _say(kind, name, word, detail):
    detail = " ".join(str(detail).split())[:300].encode("ascii", "backslashreplace").decode()
    print(f"{kind} {name}: {word} {detail}".rstrip(), flush=True)


def control(name, ok, detail=""):
    """Reports whether the act succeeds where it must."""
    _say("control", name, "ok" if ok else "failed", detail)


def attack(name, broken, detail=""):
    """Reports whether the attack got what it wanted."""
    _say("attack", name, "broken" if broken else "held", detail)


def limit(name, reason):
    """Says that this rung does not make a promise, so that it is not tried."""
    print(f"limit {name}: {reason}", flush=True)


class _Socket(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(DATA + "/choir.sock")


def api(method, path, body=None, timeout=60, **headers):
    """Calls the API as the owner on the host; returns (status, bytes)."""
    c = _Socket("choir", timeout=timeout)
    headers = {k.replace("_", "-"): v for k, v in headers.items()}
    if isinstance(body, (dict, list)):
        body, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
    c.request(method, path, body=body, headers=headers)
    r = c.getresponse()
    return r.status, r.read()


def computer():
    with open(DATA + "/owner.json") as f:
        return json.load(f)["computers"][0]["id"]


def base(name=""):
    """Is the address of a computer by its name or id; without one the first."""
    with open(DATA + "/owner.json") as f:
        known = json.load(f)["computers"]
    return "/api/computers/" + next(c["id"] for c in known if not name or name in (c["id"], c["name"]))


def choir(*args, stdin=None, timeout=120):
    """Runs the CLI; returns its CompletedProcess."""
    return subprocess.run([CHOIR, *args, "--data", DATA], input=stdin, capture_output=True, timeout=timeout)


def sandbox(script, kind="run", budget=120, argv=None, computer="", **task):
    """Runs a script of bash in the Associate as a task; returns (result, output)."""
    budget *= SLOWER
    t = {"version": 1, "kind": kind, "instruction": "attack", "commands": [{"argv": argv or ["bash", "-c", script]}],
         "time_budget_s": budget, "verify_profile": {"mode": "none"}, "return": {"logs": True}, **task}
    at = ["--computer", computer] if computer else []
    p = choir("task", "-", "--json", *at, stdin=json.dumps(t).encode(), timeout=budget + 60)
    try:
        result = json.loads(p.stdout)
    except ValueError:
        return {}, (p.stdout + p.stderr).decode("utf8", "replace")
    out = ""
    for c in result.get("commands_run") or []:
        for stream in ("stdout", "stderr"):
            if c.get(stream):
                out += api("GET", f"{base(computer)}/blobs/{c[stream]}")[1].decode("utf8", "replace")
            else:
                out += c.get(stream + "_tail") or ""
    return result, out


def compiled(source, *args):
    """Is a script that runs the C file beside the attack program, which is compiled here: not every sandbox has a compiler."""
    with tempfile.TemporaryDirectory() as top:
        subprocess.run(["gcc", "-Os", "-s", "-w", "-o", top + "/a", os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), source)], check=True)
        with open(top + "/a", "rb") as f:
            packed = base64.b64encode(gzip.compress(f.read())).decode()
    return f"d=$(mktemp -d); echo {packed} | base64 -d | gzip -d >$d/a && chmod 700 $d/a && $d/a {' '.join(args)}"


def within(seconds, act):
    """Runs act; returns (its value or error, seconds taken)."""
    began = time.monotonic()
    try:
        value = act()
    except (OSError, subprocess.TimeoutExpired, http.client.HTTPException) as e:
        value = e
    return value, time.monotonic() - began


def eventually(act, seconds=60, pause=0.05):
    """Waits until act returns something true; returns it, or None."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = act()
        if value:
            return value
        time.sleep(pause)
    return None
