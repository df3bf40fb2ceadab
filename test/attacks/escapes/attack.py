"""Tries published ways out of containers, and the traps that a workspace can set for a user of the host."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
import glob, shutil, stat
from lib import *

SETTINGS_OF_KERNEL = ["/proc/sys/kernel/core_pattern", "/proc/sys/vm/swappiness"]
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all", "env"]  # setpriv itself keeps its rights until it runs something


def leave(script):
    """Runs a script in the sandbox that leaves something in the workspace."""
    return sandbox(script, kind="edit_repo")


def settings():
    return [open(path).read() for path in SETTINGS_OF_KERNEL]


def parse(out):
    return dict(line.split("|", 1) for line in out.splitlines() if line.count("|") == 1)


def on_the_host(folder, secret):
    """Runs the tricks as root of the host, in namespaces that end with them; returns how each ended."""
    agent = folder + "/agent"
    with open(agent, "w") as f:
        f.write(f"#!/bin/sh\ntouch {folder}/agent-ran\n")
    os.chmod(agent, 0o755)
    script = f"sleep 600 & {compiled('tricks.c', '$!', folder, secret)}; kill $!"
    p = subprocess.run(["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--mount-proc", "--ipc", "--uts", "bash", "-c", script],
                       pass_fds=INHERITED, env={**os.environ, "CONTROL": "1"}, capture_output=True, text=True, timeout=300)
    said = parse(p.stdout)
    if not os.path.exists(agent + "-ran"):
        said = {name: end for name, end in said.items() if "release_agent in a new" not in name}
    return said


def ways_out(top):
    secret = top + "/canary"
    with open(secret, "w") as f:
        f.write(SECRET)
    os.chmod(secret, 0o644)
    os.mkdir(top + "/tricks")
    before = settings()
    worked = on_the_host(top + "/tricks", secret)
    role = "$(for p in /proc/[0-9]*; do [ \"$(tr -d '\\0' <$p/cmdline)\" = choir-associate ] && echo ${p#/proc/}; done | head -1)"
    result, out = sandbox("mkdir -p /workspace/tricks; " + compiled("tricks.c", role, "/workspace/tricks", secret) + "; chmod -R u+rwx /workspace/tricks; rm -rf /workspace/tricks")
    inside = parse(out)
    control("ways out", len(inside) > 40 and sum(end == "WORKED" for end in worked.values()) > 30, f"{len(inside)} tried, {worked}")
    for name, end in inside.items():
        # A trick for which this machine's kernel has nothing has no control of its own.
        promise = "way out by " + name if worked.get(name) == "WORKED" else "ways out"
        if promise != "ways out":
            control(promise, True)
        attack(promise, end == "WORKED", f"{name}: {end}; on the host: {worked.get(name)}")
    control("the machine's settings", all(before))
    attack("the machine's settings", settings() != before, settings())


def working_folders(top):
    """Has init start a task in a folder that is a link to what init has open."""
    link = lambda to: f"mkdir -p /workspace/workspace; rm -rf /workspace/workspace/escape; ln -sfn {to} /workspace/workspace/escape"
    look = f"pwd -P; cat ../../../../../../../../../..{top}/canary"
    leave("mkdir -p /workspace/workspace/plain; touch /workspace/workspace/plain/file")
    _, out = sandbox(look, repo="plain")
    control("a task's folder", "/workspace/workspace/plain" in out, out)
    for n in range(3, 9 if SLOWER == 1 else 5):
        leave(link(f"/proc/self/fd/{n}"))
        result, out = sandbox(look, repo="escape")
        attack("a task's folder", SECRET in out, f"descriptor {n}: {result.get('status')} {result.get('code')} {out[-200:]}")
    leave("rm -rf /workspace/workspace/escape /workspace/workspace/plain")


def traps(top):
    """Leaves programs with the bits of another user in the workspace, and tries them as a user of the host."""
    found = glob.glob(f"{DATA}/computers/{computer()}/**/workspace", recursive=True)
    if RUNG == "microvm" or not found:
        return  # the workspace is a disk of the machine, in no folder of the host
    workspace, opened = found[0], top + "/opened"
    leave("cp /usr/bin/id /workspace/trap && chmod 6755 /workspace/trap && chmod 777 /workspace 2>/dev/null; ls -l /workspace/trap")
    trap = workspace + "/trap"
    owner, mode = os.stat(trap).st_uid, stat.S_IMODE(os.stat(trap).st_mode)
    run = lambda path: subprocess.run([*NOBODY, path], capture_output=True, text=True)
    os.mkdir(opened)
    shutil.copy2(trap, opened + "/trap")
    os.chown(opened + "/trap", owner, owner)
    os.chmod(opened + "/trap", mode)
    as_owner = run(opened + "/trap").stdout
    control("a program with another user's bit", f"euid={owner}" in as_owner, f"{oct(mode)} {as_owner}")
    try:
        said = run(trap).stdout
    except OSError as e:
        said = str(e)
    attack("a program with another user's bit", "uid=" in said, said)
    status, raw = api("GET", base() + "/files/trap")
    control("a file that is taken out", status == 200 and raw[:4] == b"\x7fELF", status)
    leave("rm -f /workspace/trap; chmod 700 /workspace")
    if os.geteuid():
        return
    # A disk that somebody of the host left there for everybody: a loop device, which no rung has.
    node, disk = workspace + "/node", os.makedev(7, 0)
    os.mknod(node, 0o666 | stat.S_IFBLK, disk)
    os.chmod(node, 0o666)
    os.chown(node, owner, owner)
    control("a device in the workspace", within(5, lambda: open(node, "rb").close())[0] is None, disk)
    _, out = sandbox("[ -b /workspace/node ] && echo SEEN; (: </workspace/node) 2>&1 && echo OPENED")
    attack("a device in the workspace", "OPENED" in out, out)
    os.remove(node)


with tempfile.TemporaryDirectory(dir="/var/tmp") as top:
    os.chmod(top, 0o755)
    ways_out(top)
    working_folders(top)
    traps(top)
