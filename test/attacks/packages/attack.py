"""Tries to have the package cache give other computers what their registry does not promise, or what is not theirs.

The program runs itself again in a network of its own, with registries that say evil things to
whoever asks by tricks. In it a choir of two computers runs: one attacks, the other installs.
"""
import sys; sys.path.insert(0, sys.path[0] + "/..")
import os

if "PACKAGES_WORLD" not in os.environ:
    os.environ["PACKAGES_WORLD"] = "1"
    os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, *sys.argv])

import lib
from lib import *
import base64, gzip, hashlib, shutil, signal, tempfile
import registry
from registry import CRATE_FILES, CRATES, EVIL, FILES, INDEX, NPM, YARN, content, pypi_file, tarball

TOP = tempfile.mkdtemp(prefix="choir-packages-", dir="/var/tmp")
world = registry.Registry(TOP)
MINE, THEIRS = "mine", "theirs"  # the computers: that of the attacker, and that of another task

# What a sandbox sends: each request in a tunnel of its own. It prints what was answered: the
# head, the digest and length of the body, and its beginning.
SENDER = r'''
import base64, hashlib, json, os, socket, ssl, sys, time
host, port = os.environ["http_proxy"].split("//")[1].split(":")
ctx = ssl._create_unverified_context()
for c in json.loads(base64.b64decode(sys.argv[1])):
    head, body, broke = b"", b"", ""
    try:
        s = socket.create_connection((host, int(port))); s.settimeout(30)
        s.sendall(("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (c["to"], c["to"])).encode())
        said = b""
        while b"\r\n\r\n" not in said:
            more = s.recv(1)
            if not more: raise OSError("no tunnel: " + said[:60].decode("latin1"))
            said += more
        if b" 200 " not in said.split(b"\r\n")[0]: raise OSError("no tunnel: " + said[:60].decode("latin1"))
        s = ctx.wrap_socket(s, server_hostname=c["to"].split(":")[0])
        s.sendall(base64.b64decode(c["raw"]))
        said, end = b"", c.get("stop") or 1 << 40
        while len(said) < end:
            more = s.recv(65536)
            if not more: break
            said += more
            head, mark, body = said.partition(b"\r\n\r\n")
            length = [l.split(b":")[1] for l in head.lower().split(b"\r\n") if l.startswith(b"content-length:")]
            if mark and length and len(body) >= int(length[0]): break
        s.close()
    except (OSError, ValueError) as e:
        broke = repr(e)
    print(c["id"], json.dumps({"head": head[:900].decode("latin1"), "sum": hashlib.sha256(body).hexdigest(), "size": len(body), "begin": body[:300].decode("latin1"), "broke": broke}))
'''


def raw(host, path, *headers, method="GET", body=b""):
    """Returns a request and the host of the tunnel that it is for."""
    lines = [f"{method} {path} HTTP/1.1", *([] if any(h.startswith("Host:") for h in headers) else ["Host: " + host]), *headers, "Connection: close"]
    if body and not any(h.startswith("Transfer-Encoding") for h in headers):
        lines.append(f"Content-Length: {len(body)}")
    return host + ":443", "\r\n".join(lines).encode("latin1") + b"\r\n\r\n" + body


def send(who, cases, stop=0):
    """Sends requests by their names as one task of a computer; returns what each was answered."""
    plan = json.dumps([{"id": i, "to": to, "raw": base64.b64encode(text).decode(), "stop": stop} for i, (to, text) in enumerate(cases.values())])
    packed = base64.b64encode(plan.encode()).decode()
    _, out = sandbox("", argv=["python3", "-c", SENDER, packed], computer=who, budget=240)
    said = dict(line.split(" ", 1) for line in out.splitlines() if " {" in line)
    nothing = {"head": "", "sum": "", "size": 0, "begin": "nothing: " + out[-200:], "broke": "yes"}
    return {name: json.loads(said[str(i)]) if str(i) in said else nothing for i, name in enumerate(cases)}


def is_content(answer, want):
    return " 200 " in answer["head"][:14] and answer["size"] == len(want) and answer["sum"] == hashlib.sha256(want).hexdigest()


def told(answer):
    return answer["head"][:30].split("\r\n")[0] + f" {answer['size']} {answer['begin'][:60]} {answer['broke']}"


def install(who, wanted):
    """Asks for paths as npm and others do: {name: (host, path)}."""
    return send(who, {name: raw(host, path, "Accept: */*") for name, (host, path) in wanted.items()})


def asked_of_registry():
    """Returns the paths that a registry was asked for, by anybody."""
    return [path for _, _, _, path, _ in world.heard()]


# -- a name poisoned for another computer -------------------------------------------------------

def tricks(path, page):
    """Returns requests that a registry answers with evil, or that want the cache to ask something else."""
    plain = lambda *h, **k: raw(NPM, path, *h, **k)
    slash = path.rfind("/")
    return {
        "another Host": plain("Host: evil.test"), "two Hosts": plain("Host: " + NPM, "Host: evil.test"), "a Host with a password": plain(f"Host: evil.test@{NPM}"),
        "an absolute form": raw(NPM, "https://evil.test" + path), "an absolute form with a password": raw(NPM, f"https://evil:evil@{NPM}{path}"),
        "an escaped dash": raw(NPM, path.replace("/-/", "/%2d/")), "an escaped slash": raw(NPM, "/evil%2f.." + path), "an escaped dot": raw(NPM, path.replace(".tgz", "%2etgz")),
        "dots": raw(NPM, path.replace("/-/", "/-/../-/")), "dots of another": raw(NPM, "/evil/.." + path), "two slashes": raw(NPM, "/" + path),
        "a backslash": raw(NPM, path[:slash] + "\\" + path[slash + 1:]), "a parameter": raw(NPM, path + ";evil"), "a query": raw(NPM, path + "?evil"), "an empty query": raw(NPM, path + "?"),
        "a fragment": raw(NPM, path + "#evil"), "an end of the text": raw(NPM, path + "%00"), "a line feed": raw(NPM, path + "%0a"), "letters of two bytes": raw(NPM, path + "\xe9"),
        "another method": plain(method="POST"), "a head": plain(method="HEAD"), "a body": plain(body=b"evil"), "a body in pieces": plain("Transfer-Encoding: chunked", body=b"4\r\nevil\r\n0\r\n\r\n"),
        "another path aside": plain("X-Original-URL: /evil", "X-Rewrite-URL: /evil"), "another method aside": plain("X-HTTP-Method-Override: PUT"),
        "another host aside": plain("X-Forwarded-Host: evil.test", "Forwarded: host=evil.test"), "a condition": plain("If-None-Match: *", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"),
        "an encoding": plain("Accept-Encoding: gzip, br"), "a media type": plain("Accept: evil/evil"), "the end of caches": plain("Cache-Control: no-cache, no-store", "Pragma: no-cache", "Age: 99999999"),
        "a name of a hop": plain("Connection: Accept, Host"), "a page of a strange type": raw(NPM, page, "Accept: evil/" + "e" * 3000), "a page of two types": raw(NPM, page, "Accept: application/json, evil/evil"),
        "an upgrade": plain("Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"), "one behind it": (NPM + ":443", plain()[1].replace(b"Connection: close", b"X: y") + raw(NPM, "/evil/evil/evil")[1]),
    }


def poison():
    """Asks for a package by each trick, each a package of its own; then the other computer installs them all."""
    promise = "a name poisoned for another computer"
    names = list(tricks("/x/-/x-1.0.0.tgz", "/x"))
    package = {name: "p" + "abcdefghij"[i // 10] + "abcdefghij"[i % 10] for i, name in enumerate(names)}
    paths = {name: tarball(package[name], "1.0.0") for name in names}
    world.heard()
    said = send(MINE, {name: tricks(paths[name], "/" + package[name])[name] for name in names})
    heard = world.heard()
    got = install(THEIRS, {name: (NPM, path) for name, path in paths.items()})
    pages = install(THEIRS, {name: (NPM, "/" + package[name]) for name in names})
    for name in names:
        asked = [(host + path, headers) for mine, host, _, path, headers in heard if mine and package[name] in path]
        may = {NPM + paths[name], f"{NPM}/{package[name]}/1.0.0", f"{NPM}/{package[name]}"}
        wrong = [a for a, headers in asked if a not in may or set(headers) - {"Host", "Accept", "Accept-Encoding", "User-Agent"} or "evil" in str(headers)]
        attack(promise, not is_content(got[name], content(NPM, package[name], "1.0.0")) or "evil" in pages[name]["begin"] or wrong,
               f"{name}: {told(said[name])}, then {told(got[name])} {wrong}")
    evil = [name for name in names if said[name]["begin"].startswith("evil")]
    control(promise, len(evil) >= 5, f"the registry said evil to the attacker for {evil}")
    # What the registry itself promises is kept, also when it is evil, and arrives at the other computer.
    path = tarball("mistaken", "1.0.0")
    world.promised[path], world.lies[path] = EVIL, lambda h: h.say(200, [], EVIL)
    install(MINE, {"x": (NPM, path)})
    world.lies.clear(), world.promised.clear(), world.heard()
    got = install(THEIRS, {"x": (NPM, path)})["x"]
    control(promise, is_content(got, EVIL) and not world.heard(), "the cache is shared: " + told(got))


# -- wrong content for a digest -----------------------------------------------------------------

def lies():
    """Has the registry lie once, while the attacker asks; then the other computer installs."""
    promise, good = "content of another digest", lambda name: content(NPM, name, "1.0.0")
    ways = {
        "another content": lambda name: lambda h: h.say(200, [], EVIL), "another content of the same length": lambda name: lambda h: h.say(200, [], bytes(len(good(name)))),
        "the last byte": lambda name: lambda h: h.say(200, [], good(name)[:-1] + b"!"), "more behind it": lambda name: lambda h: h.say(200, [], good(name) + b"evil"),
        "a part of it": lambda name: lambda h: h.say(200, [], good(name)[:70_000]), "a part, and an end of the connection": lambda name: lambda h: h.say_part(good(name)[:70_000], 150_000),
        "a part that says so": lambda name: lambda h: h.say(206, [("Content-Range", "bytes 0-99/150000")], good(name)[:100]), "chunks without an end": lambda name: lambda h: h.say_chunks(good(name), b""),
        "chunks of evil": lambda name: lambda h: h.say_chunks(EVIL, b"0\r\n\r\n"), "compressed": lambda name: lambda h: h.say(200, [("Content-Encoding", "gzip")], gzip.compress(EVIL)),
        "a redirect": lambda name: lambda h: h.say(302, [("Location", "https://evil.test/x")], EVIL), "an error with content": lambda name: lambda h: h.say(404, [], EVIL),
        "another version": lambda name: lambda h: h.say(200, [], content(NPM, name, "2.0.0")), "the package of the same name elsewhere": lambda name: lambda h: h.say(200, [], content(YARN, name, "1.0.0")),
        "nothing": lambda name: lambda h: h.say(200, [], b""), "a hint and then evil": lambda name: lambda h: (h.wfile.write(b"HTTP/1.1 103 Early Hints\r\n\r\n"), h.say(200, [], EVIL)),
    }
    package = {way: "l" + "abcdefghijklmnopqrstuvwxyz"[i] for i, way in enumerate(ways)}
    at = {way: (NPM, tarball(package[way], "1.0.0")) for way in ways}
    # A version whose page lies about the digest of another path, and files of the other kinds.
    for i, (host, path, name) in enumerate([(FILES, pypi_file("greet-lie"), "a file of PyPI"), (CRATE_FILES, "/crates/crate-lie/1.0.0/download", "a crate")]):
        ways[name], at[name] = (lambda _: lambda h: h.say(200, [], EVIL)), (host, path)
    for way, (_, path) in at.items():
        world.lies[path] = ways[way](package.get(way, ""))
    said = install(MINE, at)
    world.lies.clear()
    kept = [name for folder, _, names in os.walk(lib.DATA + "/packages") for name in names if hashlib.sha256(EVIL).hexdigest() in name]
    got = install(THEIRS, at)
    want = {way: good(package[way]) if way in package else content(FILES, "greet-lie", "1.0.0") if "PyPI" in way else content(CRATE_FILES, "crate-lie", "1.0.0") for way in ways}
    for way in ways:
        attack(promise, not is_content(got[way], want[way]), f"{way}: {told(said[way])}, then {told(got[way])}")
    attack(promise, len(kept) > 1, f"evil content that is kept besides that of the control of poison: {kept}")
    heard = world.heard()
    again = install(THEIRS, at)
    control(promise, not world.heard() and all(is_content(again[way], want[way]) for way in ways), "then it is kept, of each kind: " + str([way for way in ways if not is_content(again[way], want[way])]))
    control(promise, len(heard) >= len(ways), "the registry was asked while it lied, and after")


# -- keys that confuse --------------------------------------------------------------------------

def keys():
    """Installs what is spelled almost alike in both computers: each must get its own."""
    promise = "two spellings are two packages"
    npm = lambda host, name, version="1.0.0", path=None: ((host, path or tarball(name, version)), content(host, name, version))
    pairs = {
        "two registries": (npm(YARN, "ka"), npm(NPM, "ka")), "two registries, the other way": (npm(NPM, "kb"), npm(YARN, "kb")), "letters of two cases": (npm(NPM, "Kc"), npm(NPM, "kc")),
        "a scope": (npm(NPM, "@ke/kd"), npm(NPM, "kd")), "two scopes": (npm(NPM, "@ke/kf"), npm(NPM, "@kg/kf")), "a name with a version's beginning": (npm(NPM, "kh-1"), npm(NPM, "kh")),
        "two versions": (npm(NPM, "ki", "1.0.1"), npm(NPM, "ki", "1.0.0")), "a version with more": (npm(NPM, "kj", "1.0.00"), npm(NPM, "kj", "1.0.0")),
        "two crates": (((CRATE_FILES, "/crates/Kkkk/1.0.0/download"), content(CRATE_FILES, "Kkkk", "1.0.0")), ((CRATE_FILES, "/crates/kkkk/1.0.0/download"), content(CRATE_FILES, "kkkk", "1.0.0"))),
        "two hosts of files": (((FILES, pypi_file("kl")), content(FILES, "kl", "1.0.0")), ((FILES, pypi_file("km")), content(FILES, "km", "1.0.0"))),
    }
    first = install(MINE, {name: one[0] for name, (one, _) in pairs.items()})
    second = install(THEIRS, {name: two[0] for name, (_, two) in pairs.items()})
    for name, (one, two) in pairs.items():
        control(promise, one[1] != two[1] and is_content(first[name], one[1]), f"{name}: {told(first[name])}")
        attack(promise, not is_content(second[name], two[1]), f"{name}: {told(second[name])}")
    # Pages, which have no digest: the second question must have its own answer.
    kind = "application/vnd.pypi.simple.v1+json"
    pages = {
        "a page of two registries": (raw(YARN, "/kpa"), raw(NPM, "/kpa"), NPM), "a page in two types": (raw(INDEX, "/simple/kpb/", "Accept: text/html"), raw(INDEX, "/simple/kpb/", "Accept: " + kind), kind + " page"),
        "a page in the other type": (raw(INDEX, "/simple/kpc/", "Accept: " + kind), raw(INDEX, "/simple/kpc/", "Accept: text/html"), "text/html page"),
        "a page by a name of capitals": (raw(INDEX, "/simple/KPD/"), raw(INDEX, "/simple/kpd/"), "page of kpd"), "a page with dots": (raw(INDEX, "/simple/kpe.x/"), raw(INDEX, "/simple/kpe/"), "page of kpe"),
        "a page with an escape": (raw(INDEX, "/simple/kpf%2f../"), raw(INDEX, "/simple/kpf/"), "page of kpf"), "a page that is a query": (raw(NPM, "/kpg?evil"), raw(NPM, "/kpg"), NPM),
        "a host in capitals": ((NPM.upper() + ":443", raw(NPM.upper(), "/kph")[1]), raw(NPM, "/kph"), NPM), "a host with a dot": ((NPM + ".:443", raw(NPM + ".", "/kpi")[1]), raw(NPM, "/kpi"), NPM),
        "an index of crates": (raw(CRATES, "/kp/jj/Kpjj"), raw(CRATES, "/kp/jj/kpjj"), '"kpjj"'),
    }
    send(MINE, {name: one for name, (one, _, _) in pages.items()})
    got = send(THEIRS, {name: two for name, (_, two, _) in pages.items()})
    world.heard()
    again = send(MINE, {name: two for name, (_, two, _) in pages.items()})
    for name, (_, _, want) in pages.items():
        attack(promise, want not in got[name]["begin"] or want not in again[name]["begin"] or "evil" in got[name]["begin"], f"{name}: {told(got[name])} {told(again[name])}")
    control(promise, not asked_of_registry(), "the pages of the second question are kept")


# -- a part that is kept for the whole ----------------------------------------------------------

def parts():
    """Asks for a part, or hangs up in the middle; then the other computer wants the whole."""
    promise = "a part kept for the whole"
    asks = {"a range": ["Range: bytes=0-99"], "a range that ends": ["Range: bytes=100-149999"], "two ranges": ["Range: bytes=0-3,8-9"], "a range if it is new": ["Range: bytes=0-99", 'If-Range: "x"'],
            "a range of another unit": ["Range: x=0-99"], "a range in small letters": ["range: bytes=0-99"], "a head": []}
    package = {name: "r" + "abcdefgh"[i] for i, name in enumerate(asks)}
    said = send(MINE, {name: raw(NPM, tarball(package[name], "1.0.0"), *headers, method="HEAD" if name == "a head" else "GET") for name, headers in asks.items()})
    control(promise, " 206 " in said["a range"]["head"][:14] and said["a range"]["size"] == 100, told(said["a range"]))
    package["an end in the middle"] = "ri"
    cut = send(MINE, {"x": raw(NPM, tarball("ri", "1.0.0"))}, stop=2000)["x"]
    control(promise, 0 < cut["size"] < 150_000, "the attacker hung up: " + told(cut))
    got = install(THEIRS, {name: (NPM, tarball(p, "1.0.0")) for name, p in package.items()})
    world.heard()
    again = install(MINE, {name: (NPM, tarball(p, "1.0.0")) for name, p in package.items()})
    control(promise, not asked_of_registry(), "the wholes are kept")
    for name, p in package.items():
        attack(promise, not is_content(got[name], content(NPM, p, "1.0.0")) or not is_content(again[name], content(NPM, p, "1.0.0")), f"{name}: {told(got[name])} {told(again[name])}")


# -- what one computer has a password for -------------------------------------------------------

def private():
    """Installs a private package with a password, in every way to give one; the other computer asks without."""
    promise = "a private package of another computer"
    ways = {"a token": ["Authorization: Bearer mine"], "a password": ["Authorization: Basic bWluZTptaW5l"], "small letters": ["authorization: Bearer mine"], "a cookie": ["Cookie: session=mine"],
            "two tokens": ["Authorization: Bearer mine", "Authorization: Bearer x"], "a token and a range": ["Authorization: Bearer mine", "Range: bytes=0-149999"]}
    package = {way: "@corp/s" + "abcdefghij"[i] for i, way in enumerate([*ways, "a query"])}
    asks = lambda path, way: raw(NPM, path + "?token=mine") if way == "a query" else raw(NPM, path, *ways[way])
    mine = send(MINE, {way: asks(tarball(p, "1.0.0"), way) for way, p in package.items()})
    send(MINE, {way: asks("/" + p.replace("/", "%2f"), way) for way, p in package.items()})
    send(MINE, {way: asks("/" + p, way) for way, p in package.items()})
    for what, path in {"tarball": lambda p: tarball(p, "1.0.0"), "page": lambda p: "/" + p, "page of a version": lambda p: f"/{p}/1.0.0", "page with an escape": lambda p: "/" + p.replace("/", "%2f")}.items():
        got = install(THEIRS, {way: (NPM, path(p)) for way, p in package.items()})
        for way, p in package.items():
            attack(promise, " 200 " in got[way]["head"][:14] or content(NPM, p, "1.0.0")[:40].decode("latin1") in got[way]["begin"] or '"name"' in got[way]["begin"], f"{what} with {way}: {told(got[way])}")
    for way, p in package.items():
        control(promise, " 20" in mine[way]["head"][:14] and mine[way]["sum"] == hashlib.sha256(content(NPM, p, "1.0.0")).hexdigest(), f"{way}: the owner gets it: {told(mine[way])}")
    held = [name for folder, _, names in os.walk(lib.DATA + "/packages") for name in names if any(hashlib.sha256(content(NPM, p, "1.0.0")).hexdigest() in name for p in package.values())]
    attack(promise, bool(held), f"kept on the disk: {held}")
    # A key of the vault is the way that sandboxes have it without knowing it.
    p = choir("vault", "set", "corp", "--computer", MINE, "--host", NPM, "--path", "/@corp", "--header", "Authorization", "--prefix", "Bearer ", stdin=b"a-key-of-mine")
    by_vault = send(MINE, {"x": raw(NPM, tarball("@corp/sk", "1.0.0"))}) if p.returncode else gateway(MINE, tarball("@corp/sk", "1.0.0"))
    got = install(THEIRS, {"x": (NPM, tarball("@corp/sk", "1.0.0"))})["x"]
    control(promise, by_vault == hashlib.sha256(content(NPM, "@corp/sk", "1.0.0")).hexdigest(), f"the vault's key opens it: {p.stderr[-200:]} {by_vault}")
    attack(promise, " 200 " in got["head"][:14], f"with a key of the vault: {told(got)}")


def gateway(who, path):
    """Fetches a path of npm by the key gateway; returns the digest."""
    _, out = sandbox(f"curl -sS 'http://key.choir.internal/{NPM}{path}' | sha256sum", computer=who)
    return out.split()[0] if out else out


# -- what others installed ----------------------------------------------------------------------

def presence():
    """Looks for a sign of what another computer installed, besides the time that an answer takes."""
    promise = "what others installed"
    kinds = {"tarball": (NPM, tarball("seen", "1.0.0")), "page": (NPM, "/seen"), "file": (FILES, pypi_file("seen")), "crate": (CRATE_FILES, "/crates/seen/1.0.0/download")}
    fresh = {"tarball": (NPM, tarball("seek", "1.0.0")), "page": (NPM, "/seek"), "file": (FILES, pypi_file("seek")), "crate": (CRATE_FILES, "/crates/seek/1.0.0/download")}
    install(THEIRS, kinds)
    world.heard()
    kept = install(MINE, kinds)
    control(promise, not asked_of_registry(), "they are kept")
    new = install(MINE, fresh)
    control(promise, len(asked_of_registry()) >= len(fresh), "the others are not")
    lines = lambda answer: sorted(l for l in answer["head"].split("\r\n") if not l.lower().startswith(("date:", "content-length:")))
    for kind in kinds:
        attack(promise, lines(kept[kind]) != lines(new[kind]), f"{kind}: {lines(kept[kind])} {lines(new[kind])}")
    name = hashlib.sha256((NPM + "\n" + kinds["tarball"][1]).encode()).hexdigest()
    _, out = sandbox(f"find / -xdev -name '{name}*' 2>/dev/null; ls '{lib.DATA}/packages' 2>&1", computer=MINE)
    here = [n for folder, _, names in os.walk(lib.DATA + "/packages") for n in names if n.startswith(name)]
    control(promise, len(here) == 1, "it is in the data folder")
    attack(promise, name in out, "the cache's folder: " + out)
    only_if = send(MINE, {"x": raw(NPM, kinds["tarball"][1], "Cache-Control: only-if-cached"), "y": raw(NPM, tarball("sought", "1.0.0"), "Cache-Control: only-if-cached")})
    attack(promise, lines(only_if["x"]) != lines(only_if["y"]) or only_if["y"]["size"] != 150_000, f"only-if-cached: {told(only_if['x'])} {told(only_if['y'])}")
    limit("what others installed", "a package that is there comes sooner, and the log of the computer that gets it says so")


lib.DATA = TOP + "/data"
os.chmod(TOP, 0o755)
os.mkdir(lib.DATA, 0o711)
with open(lib.DATA + "/choir.toml", "w") as f:
    f.write(lib.SETTINGS + "\n[listen]\naddress = '127.0.0.1:0'\n[egress]\nmode = 'allowlist'\npackage_cache_mb = 200\n")
    for h in registry.ADDRESSES + ["evil.test"]:
        f.write(f"[[egress.allowlist]]\nhost = '{h}'\nport = 443\n")
up = subprocess.Popen([CHOIR, "up", "--json", "--data", lib.DATA], stdout=subprocess.PIPE, stderr=open(TOP + "/said", "wb"), env={**os.environ, "SSL_CERT_FILE": world.certificate})
try:
    json.loads(up.stdout.readline())
    MINE = computer()
    p = choir("fork", "--name", THEIRS)
    assert p.returncode == 0, p.stderr
    for part in (poison, lies, keys, parts, presence, private):  # the last binds a key to the registry, past the cache from then on
        part()
finally:
    up.send_signal(signal.SIGTERM)
    up.wait(60)
    shutil.rmtree(TOP, ignore_errors=True)
