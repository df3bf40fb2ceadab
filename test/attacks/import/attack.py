"""Imports an archive whose manifest is larger than any computer's, and watches choir's memory."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
import io, tarfile, tempfile
from lib import *


def resident():
    """Is the control plane's resident memory in MiB."""
    pid = os.environ["CHOIR_PID"]
    with open(f"/proc/{pid}/status") as f:
        return next(int(l.split()[1]) // 1024 for l in f if l.startswith("VmRSS"))


top = tempfile.mkdtemp()
whole = top + "/whole.choir"
exported = choir("export", whole)
taken = choir("import", whole, "--name", "copy")
control("import", exported.returncode == 0 and taken.returncode == 0, (taken.stdout + taken.stderr)[-200:])
with tarfile.open(whole) as t:
    first = t.next()
bomb, size = top + "/bomb.choir", 300 << 20
body = b'{"x":[' + b"[]," * ((size - 9) // 3) + b"[]]}"
with tarfile.open(bomb, "w", format=tarfile.USTAR_FORMAT) as t:
    member = tarfile.TarInfo(first.name)
    member.size, member.mode, member.mtime, member.uid, member.gid = len(body), first.mode, first.mtime, first.uid, first.gid
    member.uname, member.gname = first.uname, first.gname
    t.addfile(member, io.BytesIO(body))
before = resident()
p, took = within(120, lambda: choir("import", bomb, "--name", "bomb", timeout=120))
after = resident()
attack("import", isinstance(p, Exception) or p.returncode == 0 or after - before > 300, f"{before} -> {after} MiB in {took:.1f} s")
