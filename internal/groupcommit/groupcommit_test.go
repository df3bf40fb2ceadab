package groupcommit_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/groupcommit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// owner has the locks of a queue, and keeps what was written. Each write waits for a
// word at the gate: its error.
type owner struct {
	*testing.T
	mu, writing sync.Mutex
	queue       *groupcommit.Queue[int]
	writes      [][]int
	begun       chan struct{}
	gate        chan error
	writers     sync.WaitGroup
}

func newOwner(t *testing.T, most int) *owner {
	o := &owner{T: t, begun: make(chan struct{}), gate: make(chan error)}
	o.queue = groupcommit.New(&o.mu, &o.writing, most, func(items []int) error {
		o.writes = append(o.writes, items)
		o.begun <- struct{}{}
		return <-o.gate
	})
	return o
}

// append adds items, and returns once they are in a group. The writer wants an error.
func (o *owner) append(want error, size int, items ...int) {
	o.mu.Lock()
	p := o.queue.Join(items, size)
	o.mu.Unlock()
	o.writers.Go(func() {
		if err := o.queue.Finish(p); !errors.Is(err, want) {
			o.Errorf("the writer of %v was told %v, want %v", items, err, want)
		}
	})
}

// passes lets the next write end with an error.
func (o *owner) passes(err error) {
	<-o.begun
	o.gate <- err
}

func TestWritersThatComeDuringAWriteShareTheNextOne(t *testing.T) {
	o := newOwner(t, 0)
	o.append(nil, 1, -1)
	<-o.begun
	for i := range 64 {
		o.append(nil, 1, 2*i, 2*i+1)
	}
	o.gate <- nil
	o.passes(nil)
	o.writers.Wait()
	if len(o.writes) != 2 || len(o.writes[1]) != 128 || !slices.IsSorted(o.writes[1]) {
		t.Errorf("written: %v", o.writes)
	}
}

func TestAnErrorIsToldToEveryWriterOfItsGroupAlone(t *testing.T) {
	o, full := newOwner(t, 0), errors.New("the disk is full")
	o.append(nil, 1, -1)
	<-o.begun
	for i := range 8 {
		o.append(full, 1, i)
	}
	o.gate <- nil
	<-o.begun
	o.append(nil, 1, 9)
	o.gate <- full
	o.passes(nil)
	o.writers.Wait()
}

func TestAGroupThatIsRefusedIsNotWritten(t *testing.T) {
	o, broken := newOwner(t, 0), errors.New("the log is broken")
	o.append(nil, 1, 0)
	<-o.begun
	o.append(broken, 1, 1)
	o.mu.Lock()
	if !o.queue.Filling() {
		t.Error("nothing waits")
	}
	o.queue.Refuse(broken)
	if o.queue.Filling() {
		t.Error("it is still being filled")
	}
	o.queue.Refuse(broken) // there is none
	o.mu.Unlock()
	o.gate <- nil
	o.writers.Wait()
	if len(o.writes) != 1 {
		t.Errorf("written: %v", o.writes)
	}
}

func TestAGroupIsNoLargerThanItsBoundUnlessOneWriterIs(t *testing.T) {
	o := newOwner(t, 10)
	o.append(nil, 1, 1)
	<-o.begun
	for _, size := range []int{4, 6, 4, 25, 1} {
		o.append(nil, size, size)
	}
	o.gate <- nil
	for range 4 {
		o.passes(nil)
	}
	o.writers.Wait()
	slices.SortFunc(o.writes, slices.Compare)
	if want := [][]int{{1}, {1}, {4}, {4, 6}, {25}}; !slices.EqualFunc(o.writes, want, slices.Equal) {
		t.Errorf("writes of %v, want %v", o.writes, want)
	}
}
