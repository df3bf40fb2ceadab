"""Brings in a repository whose hooks, filters and links want to run or read on the host."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
import shutil, tempfile
from lib import *

top = tempfile.mkdtemp()
repo, marker = top + "/evil", top + "/ran"
git = lambda *a, **k: subprocess.run(["git", "-C", repo, "-c", "user.name=x", "-c", "user.email=x@x", *a], capture_output=True, text=True, **k)
subprocess.run(["git", "init", "-q", "-b", "main", repo], check=True)
with open(repo + "/a", "w") as f:
    f.write("a\n")
os.symlink("/etc/shadow", repo + "/shadow")
git("add", "-A"); git("commit", "-qm", "first")
program = top + "/program"
with open(program, "w") as f:
    f.write(f"#!/bin/sh\necho \"$0 $*\" >>{marker}\ncat\n")
os.chmod(program, 0o755)
for hook in ("post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change", "pre-auto-gc", "pre-push"):
    shutil.copy(program, f"{repo}/.git/hooks/{hook}")
for key in ("core.fsmonitor", "core.sshCommand", "filter.x.clean", "filter.x.smudge", "diff.external", "uploadpack.packObjectsHook", "core.pager", "gpg.program", "core.editor"):
    git("config", key, program)
with open(repo + "/.gitattributes", "w") as f:
    f.write("* filter=x diff=x\n")
git("status")
control("repositories", os.path.exists(marker), "git on the host runs what the repository names")
if os.path.exists(marker):
    os.remove(marker)
added = choir("repo", "add", repo, "--name", "evil") if b"--name" in choir("repo", "add", "--help").stdout else choir("repo", "add", repo)
control("links", added.returncode == 0 and os.path.islink(repo + "/shadow"), (added.stdout + added.stderr)[:200])
sandbox("cd workspace/evil && echo b >b", kind="edit_repo", repo="evil")
choir("checkpoint"); choir("repo", "list"); choir("repo", "export", "evil", "-o", top + "/evil.bundle")
attack("repositories", os.path.exists(marker), open(marker).read() if os.path.exists(marker) else "")
status, raw = api("GET", base() + "/files/workspace/evil/shadow")
attack("links", status == 200 and b"root:" in raw, f"{status} {raw[:80]}")
for path in ("../../owner.json", "..%2f..%2fowner.json", "workspace/evil/../../../../owner.json", "/etc/passwd"):
    status, raw = api("GET", f"{base()}/files/{path}")
    attack("links", status == 200 and (b"root:" in raw or b"computers" in raw), f"{path}: {status}")
shutil.rmtree(top)
