package cluster_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/bus/cluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// roundsVar is how many random faults follow the fixed ones.
const roundsVar = "CHOIR_CLUSTER_ROUNDS"

const (
	perLog = 4  // writers of one log
	moving = 50 // acknowledgements that show that a log goes on
)

// fault happens to one node and is healed.
type fault struct {
	name     string
	do, heal func(*node)
}

var faults = []fault{
	{"killed", (*node).kill, (*node).start},
	{"stopped", func(n *node) { n.signal(syscall.SIGSTOP) }, func(n *node) { n.signal(syscall.SIGCONT) }},
	{"cut off", func(n *node) { n.cable("down") }, func(n *node) { n.cable("up") }},
	{"wiped", (*node).wipe, (*node).start},
}

func TestNothingAcknowledgedIsLostInACluster(t *testing.T) {
	if !isolated(t) {
		return
	}
	began := time.Now()
	phase := func(what string) {
		t.Logf("%s after %s", what, time.Since(began).Round(100*time.Millisecond))
	}
	c := startNodes(t)
	phase("the nodes run")
	cfg := cluster.Config{Servers: c.servers(), Timeout: 500 * time.Millisecond}
	logs := []*writers{write(t, perLog, cfg), write(t, perLog, cfg)}
	goOn := func() {
		t.Helper()
		for _, w := range logs {
			w.progress(t, moving)
		}
	}
	whole := func() (leader *node) {
		t.Helper()
		c.whole(t, logs[1].computer)
		return c.whole(t, logs[0].computer)
	}
	goOn()
	phase("appends are acknowledged")
	strike := func(f fault, n *node) {
		t.Helper()
		f.do(n)
		goOn() // with two nodes
		phase(n.name + " was " + f.name + " and the others go on")
		f.heal(n)
		whole()
		phase(n.name + " is back")
	}
	for i, f := range faults {
		// The leader of the first log is hit by every second one.
		n := whole()
		if i%2 == 1 {
			n = c.other(n)
		}
		strike(f, n)
	}
	rounds, _ := strconv.Atoi(os.Getenv(roundsVar)) // none, unless it says how many
	for range rounds {
		strike(faults[rand.IntN(len(faults))], c[rand.IntN(len(c))])
	}
	withoutMajority(t, c, whole(), logs)
	phase("two nodes were cut off")
	goOn()
	phase("appends are acknowledged again")
	leader := whole()
	phase("whole again")
	for _, w := range logs {
		w.stop()
	}
	leader.kill()
	phase("one node was killed for good")
	for _, w := range logs {
		w.check(t, strings.Join(c.servers(), ","))
		head, _ := w.store.Head()
		phase("read")
		t.Logf("%d events, %d acknowledged, %d times told to ask again", head, w.told.Load(), w.refused.Load())
	}
}

// withoutMajority cuts the leader and another node off: nothing may be
// acknowledged until they are back.
func withoutMajority(t *testing.T, c *nodes, leader *node, logs []*writers) {
	t.Helper()
	cut := []*node{leader, c.other(leader)}
	for _, n := range cut {
		n.cable("down")
	}
	var cuts []uint64
	for _, w := range logs {
		head, _ := w.store.Head()
		cuts = append(cuts, head)
	}
	for i, w := range logs {
		w.stalled(t, perLog, cuts[i])
	}
	for _, n := range cut {
		n.cable("up")
	}
}
