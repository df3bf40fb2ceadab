package hub

import (
	"choiros/internal/durablefile"
	"choiros/internal/fault"
)

// keyFiles writes the files of the bus's keys durably, with their fault points.
var keyFiles = durablefile.Files{
	BeforeSync:       func() { fault.Point("bus.file.sync") },
	BeforeRename:     func() { fault.Point("bus.file.rename") },
	BeforeFolderSync: func() { fault.Point("bus.folder.sync") },
}
