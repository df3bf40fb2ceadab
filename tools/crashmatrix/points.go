package main

import "syscall"

// point is a durable boundary of choir, by the name it has in package fault, and
// how a row reaches it.
type point struct {
	name   string
	guest  bool               // it is passed in a sandbox
	fresh  bool               // it is passed on an empty folder only
	damage func(*bench) error // what makes it necessary
	steps  []string           // what the driver does; usual when empty
}

// usual is what a driver does: one thread beside the other.
var usual = []string{"task,again,look,task", "prompt,prompt,prompt,checkpoint", "prompt,prompt,verify"}

// beginning is what a driver does on an empty folder.
var beginning = []string{"add,task,look,prompt"}

// goingBack is what a driver does where the workspace is rewound.
var goingBack = []string{"task,look,rewind,task,rewind,look"}

// forking is what a driver does where a second computer is made.
var forking = []string{"task,fork,task,fork,look", "prompt,prompt,prompt"}

// points are all of them; a test holds them against the source.
var points = []point{
	{name: "journal.sync"},
	{name: "journal.synced"},
	{name: "journal.seal"},
	{name: "journal.file.sync"},
	{name: "journal.file.rename"},
	{name: "journal.folder.sync"},
	{name: "store.commit"},
	{name: "store.committed"},
	{name: "store.checkpoint"},
	{name: "store.migrate", fresh: true, steps: beginning},
	{name: "blob.wal.create"},
	{name: "blob.wal.sync"},
	{name: "blob.wal.synced"},
	{name: "blob.settle.sync"},
	{name: "blob.rename"},
	{name: "blob.folder.sync"},
	{name: "blob.wal.remove"},
	{name: "blob.recover", damage: killInUse},
	{name: "bus.file.sync"},
	{name: "bus.file.rename"},
	{name: "bus.folder.sync"},
	{name: "relay.publish"},
	{name: "auth.rename"},
	{name: "computer.note.rename"},
	{name: "computer.note.remove"},
	{name: "computer.intent.rename", steps: goingBack},
	{name: "computer.intent.remove", steps: goingBack},
	{name: "fork.file.sync", steps: forking},
	{name: "fork.folder.sync", steps: forking},
	{name: "computer.folder.rename", steps: forking},
	{name: "computer.restore.remove", steps: forking},
	{name: "data.file.sync", fresh: true, steps: beginning},
	{name: "data.file.rename", fresh: true, steps: beginning},
	{name: "data.folder.sync", fresh: true, steps: beginning},
	{name: "data.guest.rename", fresh: true, steps: beginning},
	{name: "data.guest.sync", fresh: true, steps: beginning},
	{name: "sandbox.root.sync", fresh: true, steps: beginning},
	{name: "sandbox.root.rename", fresh: true, steps: beginning},
	{name: "store.remove", damage: spoilSQLite},
	{name: "store.rebuild", damage: loseSQLite},
	{name: "git.object.rename", guest: true},
	{name: "git.ref.rename", guest: true},
	{name: "restore.rename", guest: true},
	{name: "restore.remove", guest: true},
}

// unreached are the points that no verb of the driver comes to yet, and why.
var unreached = map[string]string{
	"blob.batch.sync":     "more than 1 MiB or 256 files at once: the driver writes little",
	"blob.syncfs":         "much at once, as above; syncfs does not reach powercut",
	"guest.file.rename":   "the driver writes no file by hand",
	"guest.rename":        "the driver moves no file by hand",
	"guest.copy.rename":   "the driver copies no file by hand",
	"guest.remove":        "the driver removes no file by hand",
	"guest.remove.tree":   "the driver removes no folder by hand",
	"guest.unpack.rename": "passed before a plan can be laid into the guest's folder",
	"git.import":          "only repositories that are not of the simple kind",
	"git.index":           "only repositories that are not of the simple kind",
	"store.bulk.sync":     "only imports and benchmarks fill a log in bulk",
	"blob.remove":         "nothing is old enough to be collected",
	"store.replace":       "needs rows that differ; see the rows of damage",
}

func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
