package eventstore

import "choiros/internal/choir"

// filesTable stores the files of the workspace by path; the value is a choir.FileState.
var filesTable = newVersioned("files", 1, reducers{
	choir.TypeFileWritten:     on(fileWritten),
	choir.TypeFileRemoved:     on(fileRemoved),
	choir.TypeTimelineRewound: on(restoreVersions),
})

func fileWritten(files *versions, e *choir.Event, p *choir.FileWritten) error {
	for i := range p.Files {
		if err := files.setJSON(p.Files[i].Path, e.Seq, &p.Files[i]); err != nil {
			return err
		}
	}
	return nil
}

func fileRemoved(files *versions, e *choir.Event, p *choir.FileRemoved) error {
	for _, path := range p.Paths {
		if err := files.endVersion(path, e.Seq); err != nil {
			return err
		}
	}
	return nil
}
