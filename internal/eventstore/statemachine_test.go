package eventstore

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// smallSegments makes many segments of few events.
const smallSegments = 32 << 10

// maintenance are the actions that a maintained child runs, each when its name
// is a line of its input, all at once.
var maintenance = map[string]func(ctx context.Context, s *Store) error{
	"read":    func(ctx context.Context, s *Store) error { return s.read(ctx, func(*sqlite.Conn) error { return nil }) },
	"dump":    func(ctx context.Context, s *Store) error { _, err := s.Dump(ctx, io.Discard); return err },
	"rebuild": func(ctx context.Context, s *Store) error { return s.Rebuild(ctx) },
	"remake":  func(ctx context.Context, s *Store) error { return s.remakeSQLite(ctx) },
	"export":  exportParts,
	"fork":    forkAside,
	"verify": func(ctx context.Context, s *Store) error {
		report, err := s.Verify(ctx, nil)
		if len(report.Holes) > 0 {
			return fmt.Errorf("holes: %+v", report.Holes)
		}
		return err
	},
}

// exportParts reads the journal's files as an export does.
func exportParts(ctx context.Context, s *Store) error {
	parts, err := s.Parts(ctx, must1(s.Head()))
	for _, p := range parts {
		r, oerr := p.Open()
		if oerr != nil {
			return oerr
		}
		n, rerr := io.Copy(io.Discard, r)
		if err = errors.Join(err, rerr, r.Close()); n != p.Size {
			err = errors.Join(err, fmt.Errorf("%s has %d bytes, not %d", p.Name, n, p.Size))
		}
	}
	if choir.CodeOf(err) == choir.CodeBusy {
		return nil // it was repaired meanwhile, and says so
	}
	return err
}

// forkAside shares the log with a folder of its own and holds the fork against it.
func forkAside(ctx context.Context, s *Store) error {
	dir, err := os.MkdirTemp(filepath.Dir(s.dir), "fork")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	seq := must1(s.Head())
	if err := s.Share(ctx, dir, seq); err != nil {
		return err
	}
	f, err := OpenReadOnly(ctx, dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if head := must1(f.Head()); head != seq || len(f.Holes()) > 0 {
		return fmt.Errorf("the fork has %d of %d events, holes %+v", head, seq, f.Holes())
	}
	return nil
}

// maintainedChild appends as many events as its input allows, from four goroutines,
// and runs what its input names, until it is killed. It prints each
// acknowledgement and each action's end.
func maintainedChild(dir string) int {
	cfg := testConfig()
	cfg.segmentBytes = smallSegments
	s, err := Open(context.Background(), dir, cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	allowed := make(chan struct{}, 1<<20) // one for each event
	for w := range 4 {
		go func() {
			for n := 0; ; n++ {
				<-allowed
				id := must0(choir.NewID(testTime, rand.Reader))
				d := must0(choir.NewDraft(id, choir.SettingChanged{Key: fmt.Sprintf("k%d", (w+n)%7), Value: strings.Repeat("v", 1+n*131%900)}))
				if r, err := s.Append(context.Background(), choir.RoleShell, d); err == nil {
					os.Stdout.WriteString(fmt.Sprintf("acked %s %d %s\n", id, r[0].Seq, r[0].Hash))
				} else if choir.CodeOf(err) != choir.CodeCorrupt && choir.CodeOf(err) != choir.CodeInternal {
					os.Stdout.WriteString(fmt.Sprintf("refused %v\n", err))
				}
			}
		}()
	}
	for scan := bufio.NewScanner(os.Stdin); scan.Scan(); {
		number, name, _ := strings.Cut(scan.Text(), " ")
		for range must0(strconv.Atoi(number[strings.IndexByte(number, '+')+1:])) {
			allowed <- struct{}{}
		}
		if name == "" {
			continue
		}
		number, _, _ = strings.Cut(number, "+")
		go func() {
			said := "ok"
			if err := maintenance[name](context.Background(), s); err != nil {
				said = strings.ReplaceAll(err.Error(), "\n", "; ")
			}
			os.Stdout.WriteString(fmt.Sprintf("done %s %s\n", number, said))
		}()
	}
	select {} // the parent kills
}

func must0[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// maintained is a running maintainedChild as its parent sees it.
type maintained struct {
	cmd   *exec.Cmd
	in    io.Writer
	model *logModel
	ended chan struct{} // closed when its output has ended

	mu    sync.Mutex // guards the rest and the model
	sent  int
	done  map[int]string
	acks  int
	grown chan struct{} // closed with each line; then there is another
	fault string
}

// logModel is what a log must hold.
type logModel struct {
	byID  map[choir.ID]choir.Receipt
	bySeq map[uint64]choir.ID
}

func startMaintained(t *rapid.T, dir string, model *logModel) *maintained {
	m := &maintained{cmd: exec.Command(os.Args[0]), model: model, ended: make(chan struct{}), done: map[int]string{}, grown: make(chan struct{})}
	m.cmd.Env = append(os.Environ(), "CHOIR_STORE_CHILD="+dir, "CHOIR_STORE_MAINTAINED=yes")
	m.cmd.Stderr = os.Stderr
	in, err := m.cmd.StdinPipe()
	out, oerr := m.cmd.StdoutPipe()
	if err = errors.Join(err, oerr); err != nil {
		t.Fatal(err)
	}
	m.in = in
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(m.ended)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return // the line at which it was killed is no acknowledgement
			}
			m.said(strings.TrimSuffix(line, "\n"))
		}
	}()
	return m
}

// said takes up a line of the child.
func (m *maintained) said(line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	word, rest, _ := strings.Cut(line, " ")
	f := strings.SplitN(rest, " ", 3)
	switch word {
	case "acked":
		seq, _ := strconv.ParseUint(f[1], 10, 64)
		if other, twice := m.model.bySeq[seq]; twice {
			m.fault = fmt.Sprintf("number %d was given to %s and to %s", seq, other, f[0])
		}
		m.model.bySeq[seq] = choir.ID(f[0])
		m.model.byID[choir.ID(f[0])] = choir.Receipt{ID: choir.ID(f[0]), Seq: seq, Hash: choir.Digest(f[2])}
		m.acks++
	case "done":
		n, _ := strconv.Atoi(f[0])
		m.done[n] = strings.TrimPrefix(rest, f[0]+" ")
	case "refused":
		m.fault = line
	}
	close(m.grown)
	m.grown = make(chan struct{})
}

// besideEach is how many appends go on beside each action.
const besideEach = 150

// start has the child run an action beside all others and numbers it.
func (m *maintained) start(t *rapid.T, name string) int {
	m.mu.Lock()
	m.sent++
	n := m.sent
	m.mu.Unlock()
	if _, err := fmt.Fprintf(m.in, "%d+%d %s\n", n, besideEach, name); err != nil {
		t.Fatal(err)
	}
	return n
}

// until waits for something that the child's lines bring about.
func (m *maintained) until(t *rapid.T, what string, so func() bool) {
	late, stop := context.WithTimeout(context.Background(), hung)
	defer stop()
	for {
		m.mu.Lock()
		yes, grown, fault := so(), m.grown, m.fault
		m.mu.Unlock()
		if fault != "" {
			t.Fatal(fault)
		}
		if yes {
			return
		}
		select {
		case <-grown:
		case <-m.ended:
			t.Fatalf("the child ended before %s", what)
		case <-late.Done():
			t.Fatalf("the child hangs before %s", what)
		}
	}
}

func (m *maintained) wait(t *rapid.T, n int) (said string) {
	m.until(t, fmt.Sprintf("action %d ends", n), func() bool { said = m.done[n]; return said != "" })
	return said
}

// appends has the child append so many events and waits for them.
func (m *maintained) appends(t *rapid.T, more int) {
	m.mu.Lock()
	from := m.acks
	m.mu.Unlock()
	if _, err := fmt.Fprintf(m.in, "+%d\n", more); err != nil {
		t.Fatal(err)
	}
	m.until(t, "more appends", func() bool { return m.acks >= from+more })
}

func (m *maintained) kill() {
	m.cmd.Process.Kill() // it may have ended, which its lines tell
	<-m.ended
	m.cmd.Wait() // the error is that it was killed
}

// machine is a log under everything at once. One copy is damaged at a time: what
// is damaged in both is lost by right.
type machine struct {
	dir     string
	child   *maintained
	model   *logModel
	damaged string         // the copy with a flipped bit that nobody has mended
	open    map[int]string // actions under way, by number
}

func (m *machine) begin(t *rapid.T) {
	if m.child == nil {
		m.child, m.open = startMaintained(t, m.dir, m.model), map[int]string{}
		m.child.appends(t, 1)
	}
}

// run starts an action and leaves it running.
func (m *machine) run(t *rapid.T) {
	m.begin(t)
	name := rapid.SampledFrom([]string{"verify", "verify", "rebuild", "remake", "export", "fork", "dump", "read"}).Draw(t, "action")
	m.open[m.child.start(t, name)] = name
}

func (m *machine) append(t *rapid.T) {
	m.begin(t)
	if m.damaged != "sqlite" { // a copy that takes nothing holds appends up
		m.child.appends(t, rapid.IntRange(1, 60).Draw(t, "appends"))
	}
}

// settle waits for all actions; in a sound log all succeed, and a verification
// that begins after a bit was flipped mends it.
func (m *machine) settle(t *rapid.T) {
	m.begin(t)
	sound := m.damaged == ""
	for n, name := range m.open {
		if said := m.child.wait(t, n); sound && said != "ok" {
			t.Fatalf("%s of a sound log: %s", name, said)
		}
		delete(m.open, n)
	}
	if said := m.child.wait(t, m.child.start(t, "verify")); said != "ok" {
		t.Fatalf("verify: %s", said)
	}
	m.damaged = ""
}

// flip damages one copy once nothing runs that would read the damage as its own.
func (m *machine) flip(t *rapid.T) {
	m.begin(t)
	if m.damaged != "" {
		return
	}
	m.settle(t)
	if m.damaged = rapid.SampledFrom([]string{"journal", "sqlite"}).Draw(t, "copy"); m.damaged == "sqlite" {
		m.flipIn(t, filepath.Join(m.dir, sqliteFile))
		return
	}
	segments, err := filepath.Glob(filepath.Join(m.dir, journalDir, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	if said := m.child.wait(t, m.child.start(t, "read")); said != "ok" { // the copy has them all
		t.Fatal(said)
	}
	if len(segments) < 2 {
		m.damaged = ""
		return
	}
	m.flipIn(t, rapid.SampledFrom(segments[:len(segments)-1]).Draw(t, "segment"))
}

func (m *machine) flipIn(t *rapid.T, path string) {
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, at := make([]byte, 1), rapid.Int64Range(0, st.Size()-1).Draw(t, "byte")
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

// kill ends the child in the middle of everything and holds what is on the disk
// against the model.
func (m *machine) kill(t *rapid.T) {
	if m.child == nil {
		return
	}
	m.child.kill()
	m.child = nil
	ctx := context.Background()
	cfg := testConfig()
	cfg.segmentBytes = smallSegments
	s, err := Open(ctx, m.dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	report, err := s.Verify(ctx, nil)
	if err != nil || len(report.Holes) > 0 || s.ReadOnly() != "" {
		t.Fatalf("after a kill: %+v %v, read-only %q", report, err, s.ReadOnly())
	}
	if m.damaged == "" && len(s.Repairs())+len(report.Repaired) > 0 {
		t.Fatalf("a sound log was repaired: %+v %+v", s.Repairs(), report.Repaired)
	}
	m.damaged = ""
	m.hold(t, s)
}

// hold reads the whole log: every acknowledged event in its place, no gap, and
// both copies and the answers the same.
func (m *machine) hold(t *rapid.T, s *Store) {
	ctx := context.Background()
	next, prev := uint64(1), choir.ZeroHash
	for e, err := range s.Events(ctx, 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != next || e.PrevHash != prev {
			t.Fatalf("event %d stands behind event %d", e.Seq, next-1)
		}
		if id, acked := m.model.bySeq[e.Seq]; acked && (id != e.ID || m.model.byID[id].Hash != e.Hash) {
			t.Fatalf("event %d is %s, acknowledged was %s", e.Seq, e.ID, id)
		}
		next, prev = next+1, e.Hash
	}
	for seq := range m.model.bySeq {
		if seq >= next {
			t.Fatalf("event %d was acknowledged; the log ends at %d", seq, next-1)
		}
	}
	if report, err := s.Verify(ctx, nil); err != nil || len(report.Repaired)+len(report.Holes) > 0 {
		t.Fatalf("a second verification: %+v %v", report, err)
	}
}

// ordinaryChecks is how many checks an ordinary run does: each takes up to a minute with the race
// detector. The soak does 100.
const ordinaryChecks = 1

// TestMaintenanceAppendsAndKillsAtOnce runs appends, every maintenance action,
// flipped bits and kills at once against a model; more with -rapid.checks.
func TestMaintenanceAppendsAndKillsAtOnce(t *testing.T) {
	t.Parallel()
	checks := 0
	rapid.Check(t, func(rt *rapid.T) {
		if checks++; ordinaryRun && checks > ordinaryChecks {
			return
		}
		home := must[string](t)(os.MkdirTemp(t.TempDir(), "log"))
		m := &machine{dir: filepath.Join(home, "computer"), model: &logModel{byID: map[choir.ID]choir.Receipt{}, bySeq: map[uint64]choir.ID{}}}
		defer func() {
			if m.child != nil {
				m.child.kill()
			}
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"append": m.append, "maintain": m.run, "maintain too": m.run, "settle": m.settle, "flip": m.flip, "kill": m.kill,
		})
		m.begin(rt)
		m.settle(rt)
		m.kill(rt)
	})
}
