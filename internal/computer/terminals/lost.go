package terminals

import (
	"iter"
	"slices"

	"choiros/internal/choir"
)

// Lost returns a terminal.closed payload, oldest first, for each terminal that was opened
// and not closed in the events of a session that ended by a crash. An error is one of
// events, or of a payload that cannot be read.
func Lost(events iter.Seq2[choir.Event, error]) ([]choir.Payload, error) {
	var open []choir.ID
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if e.Type != choir.TypeTerminalOpened && e.Type != choir.TypeTerminalClosed {
			continue
		}
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			return nil, err
		}
		switch p := p.(type) {
		case *choir.TerminalOpened:
			open = append(open, p.Terminal)
		case *choir.TerminalClosed:
			open = slices.DeleteFunc(open, func(id choir.ID) bool { return id == p.Terminal })
		}
	}
	out := make([]choir.Payload, len(open))
	for i, id := range open {
		out[i] = choir.TerminalClosed{Terminal: id, Reason: choir.TerminalLost, Code: -1}
	}
	return out, nil
}
