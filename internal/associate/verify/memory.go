package verify

import (
	"slices"
	"sync"

	"choiros/internal/choir"
)

// Memory keeps how checks ended on trees, so that none runs twice on one tree. Its
// methods are safe for concurrent use. The zero value is empty.
type Memory struct {
	mu   sync.Mutex // guards kept
	kept []remembered
}

type remembered struct {
	tree    choir.Digest
	command string
	ran     Ran
}

// maxRemembered limits the runs kept. One has the names of its tests.
const maxRemembered = 32

// find returns how the command ended on the tree; false if it is not known.
func (m *Memory) find(tree choir.Digest, command string) (Ran, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.kept {
		if r.tree == tree && r.command == command {
			return r.ran, true
		}
	}
	return Ran{}, false
}

// remember keeps how the command ended on the tree, in place of the oldest if there are
// many.
func (m *Memory) remember(tree choir.Digest, command string, ran Ran) {
	if tree == "" {
		return
	}
	ran.Output = nil
	m.mu.Lock()
	defer m.mu.Unlock()
	if over := len(m.kept) + 1 - maxRemembered; over > 0 {
		m.kept = slices.Delete(m.kept, 0, over)
	}
	m.kept = append(m.kept, remembered{tree, command, ran})
}
