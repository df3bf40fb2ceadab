package eventstore

import "choiros/internal/choir"

func fileWritten(v *view, e *choir.Event, p *choir.FileWritten) error {
	for i := range p.Files {
		value, err := encode(&p.Files[i])
		if err != nil {
			return err
		}
		if err := v.files.set(p.Files[i].Path, e.Seq, value); err != nil {
			return err
		}
	}
	return nil
}

func fileRemoved(v *view, e *choir.Event, p *choir.FileRemoved) error {
	for _, path := range p.Paths {
		if err := v.files.end(path, e.Seq); err != nil {
			return err
		}
	}
	return nil
}

// timelineRewound puts back what can be rewound, as new versions.
func timelineRewound(v *view, e *choir.Event, p *choir.TimelineRewound) error {
	if err := v.snapshot(e, choir.SnapshotTaken{Snapshot: p.Snapshot, Reason: "rewind"}); err != nil {
		return err
	}
	if err := v.flush(); err != nil {
		return err
	}
	for _, s := range []*versions{&v.files, &v.settings, &v.windows, &v.overlays, &v.undos} {
		if err := s.rewind(e.Seq, p.ToSeq); err != nil {
			return err
		}
	}
	return v.rewindDocuments(e, p.ToSeq)
}

// timelineUndone marks the action as taken back. The mark goes back with a rewind,
// as the files do.
func timelineUndone(v *view, e *choir.Event, p *choir.TimelineUndone) error {
	value, err := encode(Undo{Seq: e.Seq, At: e.Time})
	if err != nil {
		return err
	}
	return v.undos.set(string(p.Of), e.Seq, value)
}

// rewind makes the values that held after event to hold again.
func (s *versions) rewind(seq, to uint64) error {
	changes, err := s.view.base.changed(s.table, to)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.then == nil {
			err = s.end(c.key, seq)
		} else {
			err = s.set(c.key, seq, *c.then)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
