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
	{name: "store.migrate", fresh: true},
	{name: "blob.batch.sync"},
	{name: "blob.rename"},
	{name: "blob.folder.sync"},
	{name: "bus.file.sync"},
	{name: "bus.file.rename"},
	{name: "bus.folder.sync"},
	{name: "relay.publish"},
	{name: "auth.rename"},
	{name: "computer.note.rename"},
	{name: "computer.note.remove"},
	{name: "data.file.sync", fresh: true},
	{name: "data.file.rename", fresh: true},
	{name: "data.folder.sync", fresh: true},
	{name: "data.guest.rename", fresh: true},
	{name: "sandbox.root.rename", fresh: true},
	{name: "git.object.rename", guest: true},
	{name: "git.ref.rename", guest: true},
	{name: "restore.rename", guest: true},
	{name: "restore.remove", guest: true},
}

func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
