package choir

// Lineage checks that the events of a log, given in order, belong to one computer and its
// ancestors: computer and user change only at a computer.forked or computer.imported
// event, which must name the event before it correctly. The zero value expects event 1.
type Lineage struct {
	computer, user ID
}

// Next checks the next event of the log and remembers its computer and user. It returns
// code corrupt if the event does not continue the lineage.
func (l *Lineage) Next(e *Event) error {
	was := *l
	l.computer, l.user = e.Computer, e.User
	if was.computer == "" || was == *l {
		return nil
	}
	if e.Type != TypeComputerForked && e.Type != TypeComputerImported {
		return E("choir.lineage", CodeCorrupt, "event %d is of computer %s, the one before of %s, and neither a fork nor an import begins there", e.Seq, e.Computer, was.computer)
	}
	from, seq, hash, err := origin(e)
	switch {
	case err != nil:
		return Wrap("choir.lineage", CodeCorrupt, err, "event %d", e.Seq)
	case from != was.computer || seq != e.Seq-1 || hash != e.PrevHash || e.Computer == from:
		return E("choir.lineage", CodeCorrupt, "event %d says that it follows event %d of computer %s, which is not so", e.Seq, seq, from)
	case e.Type == TypeComputerForked && e.User != was.user:
		return E("choir.lineage", CodeCorrupt, "event %d forks the computer of another user", e.Seq)
	}
	return nil
}

// origin returns the computer, number and hash of the event that a computer.forked or
// computer.imported event names as the last one of its past. Another type is code
// invalid.
func origin(e *Event) (from ID, seq uint64, hash Digest, err error) {
	p, err := ReadPayload(e.Type, e.Payload)
	if err != nil {
		return "", 0, "", err
	}
	switch p := p.(type) {
	case *ComputerForked:
		return p.From, p.Seq, p.Hash, nil
	case *ComputerImported:
		return p.From, p.Seq, p.Hash, nil
	}
	return "", 0, "", Invalid("type", "%s begins no computer", e.Type)
}
