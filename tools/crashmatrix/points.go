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
	doing  string             // what is under way, for points that many things pass
	later  bool               // days have gone by since the folder was used
	kills  bool               // a power cut would not be seen, see powercut
	slow   bool               // takes minutes on the file system of a power cut, so that -short only kills there
	grown  bool               // the folder has a sealed segment
	nths   []int              // which passings; spread when empty
	export bool               // the command choir export passes it
}

// usual are a driver's steps in most rows: one thread beside the other.
var usual = []string{"task,again,look,task", "prompt,prompt,prompt,checkpoint", "prompt,prompt,verify"}

// atOnce are a driver's steps where tasks of two projects work at once.
var atOnce = []string{"task,look,task,task", "beside,beside,beside,beside"}

// beginning are a driver's steps on an empty folder.
var beginning = []string{"add,task,look,prompt"}

// goingBack are a driver's steps where the workspace is rewound.
var goingBack = []string{"task,look,rewind,task,rewind,look"}

// forking are a driver's steps where a second computer is made.
var forking = []string{"task,fork,task,fork,look", "prompt,prompt,prompt"}

// undoing are a driver's steps where a task is undone.
var undoing = []string{"task,undo,task,task,undo,look"}

// byHand are a driver's steps where the owner writes files and brings projects.
var byHand = []string{"files,task,files,project,files", "prompt,prompt"}

// exporting are a driver's steps where every event is of an export.
var exporting = []string{"export,export,export,export,export,export,export,export,export,export"}

// moving are a driver's steps where a computer is exported and imported again.
var moving = []string{"task,export,task,import,look", "prompt,prompt"}

// collecting are a driver's steps where old content is removed.
var collecting = []string{"collect,task,collect,look"}

// much are a driver's steps where more is stored at once than fits into the blob log.
var much = []string{"crowd,task,crowd,look"}

// throughGit are a driver's steps where a checkpoint is left to git.
var throughGit = []string{"attributes,task,task,look"}

// packing are a driver's steps where a repository gets many objects.
var packing = []string{"thousands,task,look"}

// playing are a driver's steps where the Associate's tools write files.
var playing = []string{"demo,look", "prompt,prompt"}

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
	{name: "store.cursor"},
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
	{name: "bus.file.sync", fresh: true, steps: beginning},
	{name: "bus.file.rename", fresh: true, steps: beginning},
	{name: "bus.folder.sync", fresh: true, steps: beginning},
	{name: "relay.publish"},
	{name: "auth.rename"},
	{name: "computer.note.rename"},
	{name: "computer.note.remove"},
	{name: "computer.intent.rename", steps: goingBack},
	{name: "computer.intent.remove", steps: goingBack},
	{name: "fork.file.sync", steps: forking},
	{name: "fork.file.rename", steps: forking},
	{name: "fork.folder.sync", steps: forking},
	{name: "computer.folder.rename", steps: forking},
	{name: "computer.folder.sync", steps: forking},
	{name: "computer.restore.remove", steps: forking},
	{name: "computer.intent.rename", doing: "undo", steps: undoing},
	{name: "computer.intent.remove", doing: "undo", steps: undoing},
	{name: "restore.rename", doing: "undo", guest: true, steps: undoing},
	{name: "store.commit", doing: "export", steps: exporting},
	{name: "journal.sync", doing: "export", steps: exporting},
	{name: "journal.file.rename", doing: "import", steps: moving},
	{name: "journal.folder.sync", doing: "import", steps: moving},
	{name: "store.commit", doing: "import", steps: moving},
	{name: "computer.folder.rename", doing: "import", steps: moving},
	{name: "computer.folder.sync", doing: "import", steps: moving},
	{name: "computer.restore.remove", doing: "import", steps: moving},
	{name: "store.commit", doing: "two tasks at once", nths: []int{8, 16, 24}, steps: atOnce},
	{name: "git.ref.rename", doing: "two tasks at once", guest: true, nths: []int{1, 3}, steps: atOnce},
	{name: "restore.rename", doing: "two tasks at once", guest: true, nths: first, steps: atOnce},
	{name: "blob.remove", later: true, steps: collecting},
	{name: "blob.batch.sync", steps: much},
	{name: "blob.syncfs", kills: true, steps: much},
	{name: "guest.file.rename", guest: true, steps: byHand},
	{name: "guest.rename", guest: true, steps: byHand},
	{name: "guest.copy.rename", guest: true, steps: byHand},
	{name: "guest.remove", guest: true, steps: byHand},
	{name: "guest.remove.tree", guest: true, steps: byHand},
	{name: "remove.folder", guest: true, steps: byHand},
	{name: "guest.unpack.rename", guest: true, steps: byHand},
	{name: "git.index", guest: true, steps: throughGit},
	{name: "git.move", guest: true, steps: much},
	{name: "git.pack", guest: true, slow: true, steps: packing},
	{name: "store.replace", damage: (*bench).forgeRow, steps: []string{"verify,task,verify"}},
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
	{name: "tools.file.rename", guest: true, nths: first, steps: playing},
	{name: "export.sync", export: true},
	{name: "export.rename", export: true},
	{name: "export.folder.sync", export: true},
	{name: "journal.file.sync", doing: "repair beside appends", grown: true, damage: (*bench).flipSealed, nths: first, steps: beside("verify,verify")},
	{name: "journal.file.rename", doing: "repair beside appends", grown: true, damage: (*bench).flipSealed, nths: first, steps: beside("verify,verify")},
	{name: "journal.folder.sync", doing: "repair beside appends", grown: true, damage: (*bench).flipSealed, nths: first, steps: beside("verify,verify")},
	{name: "journal.synced", doing: "repair beside appends", grown: true, damage: (*bench).flipSealed, nths: []int{10, 60}, steps: beside("verify,verify")},
	{name: "store.replace", doing: "repair beside appends", grown: true, damage: (*bench).forgeRow, nths: first, steps: beside("verify,verify")},
	{name: "store.remove", doing: "remake beside appends", grown: true, damage: (*bench).spoilPage, nths: []int{1, 2}, steps: beside("verify,verify")},
	{name: "store.rebuild", doing: "remake beside appends", grown: true, damage: (*bench).spoilPage, nths: first, steps: beside("verify,verify")},
	{name: "store.rebuild", doing: "rebuild beside appends", grown: true, damage: (*bench).spoilProjection, nths: first, steps: beside("verify,verify")},
	{name: "blob.remove", doing: "collect beside appends", grown: true, later: true, nths: first, steps: beside("collect,task,collect,look")},
	{name: "store.commit", doing: "export beside appends", grown: true, nths: []int{5, 15}, steps: beside("export,export,export")},
	{name: "fork.file.sync", doing: "fork beside appends", grown: true, nths: first, steps: beside("fork,task,fork")},
	{name: "computer.folder.rename", doing: "import beside appends", grown: true, nths: first, steps: beside("import,task,import")},
	{name: "git.ref.rename", doing: "checkpoint beside appends", guest: true, grown: true, nths: first, steps: beside("task,checkpoint,task,checkpoint")},
}

// first is the first passing alone.
var first = []int{1}

// unreached are the points that no row comes to, and why.
var unreached = map[string]string{
	"data.file.remove":       "only the owner who removes a model's connection, or the token of the metrics, which is void before, comes to it; the connection is gone before its key is, and a key without one is removed at the next start (internal/control/connections); and the opening of a closed computer, which is then one without its note (supervisor.TestAComputerWithoutItsNoteIsOpened)",
	"computer.aside.remove":  "only a result that a rule holds, of a task that worked in the workspace, comes to it; internal/computer/tasks is killed at each step of that",
	"drafts.commit":          "only a page in which somebody types comes to it, and its file is no part of the log: a browser test kills choir after an acknowledgement, and internal/computer/desk/drafts reads it from another process's file",
	"desktop.modules.rename": "only a browser that shows a changed desktop comes to it; internal/desktop unpacks over what an interrupted attempt left",
	"desktop.modules.sync":   "as desktop.modules.rename",
	"cluster.publish":        "needs three nodes; internal/bus/cluster kills, stops, cuts off and wipes them, and cmd/choir the choir that publishes",
	"store.bulk.sync":        "only choir bench fills a log in bulk, in a folder that it removes",
}

func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
