package local

import (
	"choiros/internal/choir"
	"choiros/internal/sandbox/host"
)

// find returns the sandbox of a handle; its init is nil if it has ended. An error means
// that the sandbox may live but cannot be opened.
func (m *machine) find(s state) (*box, error) {
	b := newBox(s, m.root)
	b.group = host.OpenGroup(s.Limits, s.Groups)
	if s.Boot != m.bootID {
		return b, nil // the machine was restarted; the numbers name others now
	}
	var err error
	if b.init, err = host.OpenProcess(s.Init.PID, s.Init.Start); err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		return nil, err
	}
	if s.Monitor.Start == 0 {
		return b, nil
	}
	if b.outer, err = host.OpenProcess(s.Monitor.PID, s.Monitor.Start); err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		b.init.Close()
		return nil, err
	}
	return b, nil
}
