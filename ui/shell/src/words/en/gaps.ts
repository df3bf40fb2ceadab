/** What a machine does not give a sandbox, in the words of the command line (cmd/choir/sentences.en.json). */
export const gaps = {
  lacksDepth:
    "All programs of a sandbox together can have some {depth} files or nested folders open: that is what this machine allows. Beyond that none can open anything until some end; the rung local has no such limit.",
  lacksDiskLimit: "Disk space is not limited.",
  lacksEngineLimits: "Memory, CPU time and processes are not limited: the engine holds no limits here.",
  lacksFileLimit: "Empty files in memory are limited by memory alone.",
  lacksJailer:
    "Firecracker runs without its jailer: what breaks out of it sees the files of the host that its user may read.",
  lacksKVM:
    "KVM does not serve here: machines are emulated, by code that is not written to hold an attacker, and programs take 10 to 30 times as long.",
  lacksLandlock: "This kernel lacks Landlock: the mounts alone decide what can be written.",
  lacksLimits: "Memory and CPU time are not limited.",
  lacksMemoryLimit: "Memory is limited for each process, not for all together.",
  lacksMonitorLimits:
    "No cgroup limits {monitor}: what breaks out of the machine's kernel has no limits of memory and CPU.",
  lacksMonitorUser: "{monitor} runs as the user of the control plane, not as a host user of its own.",
  lacksNames:
    "Programs that know no proxy find no host by its name: the image is of an earlier choir, make it anew with choir image build.",
  lacksSize:
    "No cgroup limits memory and CPU time: the size of the sprite does, and Fly decides whether it is the one that was asked for.",
  lacksTaskWalls: "A task in one project can write in others: that needs Landlock's third version (Linux 6.2).",
  lacksTaskWallsHere: "A task in one project can write in others: gVisor has no Landlock.",
  lacksTaskWallsImage:
    "A task in one project can write in others: that needs Landlock's third version, and the image has Linux {kernel}.",
  lacksTaskWallsSprite:
    "A task in one project can write in others: that needs Landlock's third version (Linux 6.2), which the sprite's kernel lacks.",
  lacksTimeLimit: "CPU time is not limited.",
  lacksTrust:
    "The machine, its kernel and its disk are Fly's: Fly can read and change the workspace and everything that runs in it, and choir cannot see whether the machine is what Fly says.",
  lacksUser: "Sandboxes run as the user of the control plane, not as a host user of their own.",
  lacksVictims: "A program that takes more memory than there is ends its whole sandbox.",
} as const;
