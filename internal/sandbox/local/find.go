package local

import (
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// Find implements host.Maker.
func (m *machine) Find(h sandbox.Handle) (b *box, outdated string, err error) {
	s, err := decodeHandle(h)
	if err != nil {
		return nil, "", err
	}
	if s.Workspace {
		outdated = host.CheckToolchains(s.Toolchains, m.cfg.Toolchains)
	}
	b = newBox(s, m.root)
	b.Group = host.OpenGroup(s.Limits, s.Groups)
	if s.Boot != m.bootID {
		return b, outdated, nil // the machine was restarted; the numbers name others now
	}
	if b.Main, err = host.OpenNamed(s.Init); err != nil {
		return nil, "", err
	}
	if s.Monitor.Start == 0 {
		return b, outdated, nil
	}
	if b.outer, err = host.OpenNamed(s.Monitor); err != nil {
		b.Release()
		return nil, "", err
	}
	return b, outdated, nil
}
