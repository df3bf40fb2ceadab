"""A task of one project reaches for another one: its files, its history, its processes."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
import concurrent.futures, shutil, tempfile
from lib import *

if not CONFINED:
    limit("projects", f"nothing on the rung {RUNG} keeps a task from writing in other projects")
    sys.exit()

ACTS = {
    "writes": "echo owned >../other/file",
    "appends": "echo owned >>../other/file",
    "creates": "echo owned >../other/new",
    "truncates by name": "python3 -c 'import os; os.truncate(\"../other/file\", 0)'",
    "removes": "rm -f ../other/file",
    "renames inside": "mv ../other/file ../other/moved",
    "renames out": "mv ../other/file taken",
    "renames into": "mv own ../other/given",
    "renames over": "mv own ../other/file",
    "renames the project": "mv ../other ../gone",
    "hard-links out and writes": "ln ../other/file linked && echo owned >linked",
    "hard-links into": "ln own ../other/linked",
    "writes through a link": "ln -s ../other/file led && echo owned >led",
    "writes through a linked folder": "ln -s ../other ledto && echo owned >ledto/new",
    "links into": "ln -s /etc/passwd ../other/led",
    "makes a pipe": "mkfifo ../other/pipe",
    "makes a project": "mkdir ../third",
    "changes the desktop": "echo owned >../../choiros/evil.js",
    "commits": "cd ../other && git commit -q --allow-empty -m owned",
    "breaks the history": "rm -rf ../other/.git/refs",
    "leaves a daemon that writes": "setsid -f sh -c 'sleep 0.3; echo owned >../other/file'; sleep 0.6",
    "makes the checkpoint write": "git rev-parse -q --verify HEAD >/dev/null; rm -rf .git; ln -s ../other/.git .git; echo more >>own",
}
STATE = "cd /workspace/workspace; find .. -path ../workspace/mine -prune -o -path '*/node_modules' -prune -o -path ../.git -prune -o -path '*/.git/index' -prune -o -type f -exec sha256sum {} + -o ! -type f -printf '%p %y %l\n' | sort"

top = tempfile.mkdtemp()
for name, file in (("mine", "own"), ("other", "file")):
    repo = f"{top}/{name}"
    subprocess.run(["git", "init", "-q", "-b", "main", repo], check=True)
    with open(f"{repo}/{file}", "w") as f:
        f.write(f"{name}\n")
    subprocess.run(["git", "-C", repo, "add", "-A"], check=True)
    subprocess.run(["git", "-C", repo, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "first"], check=True)
    choir("repo", "add", repo)


def state():
    return sandbox(STATE, kind="run")[1]


def head():
    return json.loads(api("GET", base())[1])["head"]


clean = state()
for name, act in ACTS.items():
    before = head()
    # The control is a task of the whole workspace, which may.
    result, _ = sandbox("cd /workspace/workspace/mine; " + act, kind="edit_repo")
    # A task that breaks a repository is taken back, and its result names the repository.
    control(name, state() != clean or "left the repository of workspace/other" in result.get("summary", ""), result.get("status"))
    choir("rewind", str(before))
    back = state()
    result, said = sandbox(act, kind="edit_repo", repo="mine")
    attack(name, back != clean or state() != clean, f"{result.get('status')} {result.get('code', '')} {said[:100]}")
    choir("rewind", str(before))

# A project without a repository of its own is committed in the workspace's: git must run
# what the task wrote below it as the task. The control commits as the whole workspace.
FILTER = ("git init -q sub && cd sub && git config filter.x.clean 'echo owned >>../../other/file; cat' && "
          "echo '* filter=x' >.gitattributes && echo hi >f")
sandbox("mkdir /workspace/workspace/bare && echo bare >/workspace/workspace/bare/file", kind="edit_repo")
name, before = "has the checkpoint run a filter below it", head()
result, said = sandbox("cd /workspace/workspace/bare && " + FILTER, kind="edit_repo")
control(name, "owned" in sandbox("cat /workspace/workspace/other/file")[1], f"{result.get('status')} {said[:100]}")
choir("rewind", str(before))
result, said = sandbox(FILTER, kind="edit_repo", repo="bare")
found = sandbox("cat /workspace/workspace/other/file; git -C /workspace/workspace/bare/sub ls-files")[1]
attack(name, "owned" in found or "f" not in found.split() or result.get("status") != "ok", f"{result.get('status')} {said[:100]} {found[:100]}")
choir("rewind", str(before))

# Modes can be changed everywhere: what a task closes, the next one must find open.
name, TRY = "closes folders to the next task", 'cd /workspace/workspace/mine && echo x >"$TMPDIR/x" && echo x >"$HOME/x" && ls .. >/dev/null && echo works'
sandbox(TRY, repo="mine")
result, said = sandbox('of=${TMPDIR%/tmp}; chmod 0 "$of"/* "$of" "${of%/*}" "${of%/*/*}" /home/choir /workspace/workspace/mine /workspace/workspace && ! ls "$of" && echo closed', repo="mine")
control(name, "closed" in said, f"{result.get('status')} {said[:200]}")
for repo in ("mine", "bare", ""):
    result, said = sandbox(TRY, **({"repo": repo} if repo else {}))
    attack(name, "works" not in said or result.get("status") != "ok", f"{repo}: {result.get('status')} {said[:150]}")

# Processes of others: the act ends one of its own, and must not end the role's.
result, said = sandbox("sleep 1000 & kill -9 $! && echo killed", kind="run", repo="mine")
control("processes", "killed" in said, said)
result, said = sandbox("for p in /proc/[0-9]*; do p=${p#/proc/}; if [ $p != $$ ] && kill -9 $p 2>/dev/null; then echo killed $p; fi; done; true", kind="run", repo="mine")
attack("processes", "killed" in said or result.get("status") != "ok", f"{result.get('status')} {said[:100]}")
result, said = sandbox("prlimit --cpu=100 true && echo limited", kind="run", repo="mine")
control("processes by a limit", "limited" in said, said)
result, said = sandbox("sleep 1 & for p in /proc/[0-9]*; do p=${p#/proc/}; if [ $p != $$ ] && prlimit --pid $p --cpu=1:1 2>/dev/null; then echo limited $p; fi; done; true", kind="run", repo="mine")
attack("processes by a limit", "limited" in said or result.get("status") != "ok", f"{result.get('status')} {said[:100]}")

# While a task works in the other project: the act fails at its end, so that it is taken
# back, and must take nothing of the other task's along, nor be told as that one's.
name, before = "reaches for a task beside it", head()
BESIDE = "; ".join(ACTS[n] for n in ("appends", "creates", "renames the project", "commits", "breaks the history"))
sandbox("cd /workspace/workspace/mine; " + BESIDE, kind="edit_repo")
control(name, state() != clean)
choir("rewind", str(before))
VICTIM = "echo here >here; until [ -e ../mine/began ]; do sleep 0.05; done; while [ -e ../mine/began ]; do sleep 0.05; done; cat file here"
KILL = "for p in /proc/[0-9]*; do [ ${p#/proc/} = $$ ] || kill -9 ${p#/proc/}; done 2>/dev/null"
ACT = f"until [ -e ../other/here ]; do sleep 0.05; done; touch began; sleep 0.5; {BESIDE}; {KILL}; exit 1"
with concurrent.futures.ThreadPoolExecutor() as both:
    victim = both.submit(sandbox, VICTIM, kind="edit_repo", repo="other")
    act = both.submit(sandbox, ACT, kind="edit_repo", repo="mine")
(result, said), (acted, words) = victim.result(), act.result()
files = [f["path"] for f in result.get("files_changed") or []]
attack(name, files != ["workspace/other/here"] or said.split() != ["other", "here"] or result.get("status") != "ok" or acted.get("code") != "command_failed",
       f"{result.get('status')} {files} {said[:100]}; {acted.get('status')} {acted.get('code')} {words[:100]}")
choir("rewind", str(before))
shutil.rmtree(top)
