package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// machine is one data folder, the choir on it, and the programs that watch it.
type machine struct {
	self  string // this program
	choir string // the binary under test
	dir   string // everything of this row
	data  string
	disk  *disk // nil for an ordinary one
	clock string
	// during is a file; as long as it is there, the threads of a driver that begin
	// with ~ go on.
	during string

	up     *process
	driver *process
	keeper *process
}

// process is a child that somebody waits for.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it ended
	err  error         // read after done
	said bytes.Buffer  // standard error, read after done
}

func start(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.Stderr = &p.said
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) killed() bool {
	var exit *exec.ExitError
	return errors.As(p.err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}

// limit bounds every wait of a row on a machine that has a core for each process
// that wants to run: what takes a second alone takes thirty beside other rows.
const limit = 2 * time.Minute

// stretch is how many times as long a wait may last, because more processes want
// to run than the machine has cores.
func stretch() float64 {
	var waiting float64
	raw, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, err = fmt.Sscan(string(raw), &waiting)
	}
	if err != nil {
		return 1 // a system without it is taken for one that does nothing else
	}
	return min(max(1, waiting/float64(runtime.NumCPU())), 20)
}

// stretched is a duration on the machine as it is loaded.
func stretched(d time.Duration) time.Duration { return time.Duration(stretch() * float64(d)) }

// until polls, because what is waited for is the state of other processes. Load
// that comes while it waits makes it more patient.
func until(ctx context.Context, what string, holds func() bool) error {
	began := time.Now()
	// What is asked for reads /proc of all processes: asking every 2 ms took a third of
	// all CPU time.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited in vain: %s", what)
		case <-tick.C:
		}
		if waited := time.Since(began); waited > limit && waited > stretched(limit) {
			return fmt.Errorf("waited in vain for %s: %s", waited.Round(time.Second), what)
		}
	}
	return nil
}

// startChoir starts choir with a plan of faults, empty for none.
func (m *machine) startChoir(plan string) (err error) {
	cmd := exec.Command(m.choir, "up", "--json", "--data", m.data)
	cmd.Env = append(os.Environ(), "CHOIR_FAULT="+plan, "CHOIR_CLOCK="+m.clock)
	m.up, err = start(cmd)
	return err
}

// plan lays down what guest processes do; empty for nothing.
func (m *machine) guestPlan(text string) error {
	dirs, err := filepath.Glob(filepath.Join(m.data, "guest", "*"))
	for _, dir := range dirs {
		path := filepath.Join(dir, "fault")
		if text == "" {
			err = errors.Join(err, os.Remove(path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644))
		}
	}
	return err
}

// watch starts the recorder and, with steps, the driver.
func (m *machine) watch(seed string, threads []string) (err error) {
	keeper := exec.Command(m.self, "record", m.data, m.ackFile())
	driver := exec.Command(m.self, append([]string{"drive", "-data", m.data, "-seed", seed, "-while", m.during}, threads...)...)
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	defer w.Close()
	keeper.Stdin, driver.Stdout = r, w
	if m.keeper, err = start(keeper); err != nil {
		return err
	}
	m.driver, err = start(driver)
	return err
}

func (m *machine) ackFile() string { return filepath.Join(m.dir, "acks") }

// finish waits for the driver, stops choir in order and ends the recorder.
func (m *machine) finish(ctx context.Context) error {
	if m.driver != nil {
		if err := until(ctx, "the driver ends", func() bool { return m.driver.ended() || m.up.ended() }); err != nil {
			return err
		}
		if !m.driver.ended() {
			return errors.New("choir has ended by itself: " + m.last())
		}
		if m.driver.err != nil {
			return fmt.Errorf("driver: %s", strings.TrimSpace(m.driver.said.String()))
		}
		if err := until(ctx, "the recorder ends", m.keeper.ended); err != nil {
			return err
		}
	}
	return m.stop(ctx)
}

// ready waits until choir answers.
func (m *machine) ready(ctx context.Context) error {
	s := newSocket(m.data)
	return until(ctx, "choir answers", func() bool {
		return m.up.ended() || s.call(ctx, "GET", "/events?limit=1", "", nil, nil) == nil
	})
}

// stop ends choir in order.
func (m *machine) stop(ctx context.Context) error {
	if m.up != nil {
		if err := m.ready(ctx); err != nil {
			return err
		}
	}
	if m.up == nil || m.up.ended() {
		return errors.New("choir has ended by itself: " + m.last())
	}
	if err := m.up.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := until(ctx, "choir stops", m.up.ended); err != nil {
		return err
	}
	if m.up.err != nil {
		return fmt.Errorf("choir ended: %w: %s", m.up.err, m.last())
	}
	return nil
}

// last is the end of what choir said.
func (m *machine) last() string {
	if m.up == nil || !m.up.ended() {
		return ""
	}
	said := strings.TrimSpace(m.up.said.String())
	return said[max(0, len(said)-400):]
}

// crash kills choir, and everything that runs in its sandboxes, at once.
func (m *machine) crash() {
	m.kill()
	for range 20 {
		pids := m.guests()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			// It may have ended meanwhile.
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (m *machine) kill() {
	if m.up != nil && !m.up.ended() {
		// It may have ended meanwhile.
		_ = m.up.cmd.Process.Kill()
		<-m.up.done
	}
}

// guests are the processes of this machine's sandboxes.
func (m *machine) guests() (pids []int) {
	procs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, proc := range procs {
		pid, err := strconv.Atoi(filepath.Base(proc))
		if err != nil || pid == os.Getpid() || !m.owns(proc) {
			continue
		}
		pids = append(pids, pid)
	}
	return pids
}

// owns tells this machine's sandboxes by what is mounted in them.
func (m *machine) owns(proc string) bool {
	line, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err == nil && strings.HasPrefix(string(line), "/usr/bin/bwrap\x00") && strings.Contains(string(line), m.data+"/") {
		return true
	}
	ours, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return false
	}
	theirs, err := os.Readlink(filepath.Join(proc, "ns", "mnt"))
	if err != nil || theirs == ours {
		return false
	}
	mounts, err := os.ReadFile(filepath.Join(proc, "mountinfo"))
	if err != nil {
		return false
	}
	// A sandbox has folders of the data folder bound; one that is only being
	// made still sees the mounts of the whole host.
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line) // id parent device root at ... - type source options
		if len(f) > 4 && strings.HasPrefix(f[3], m.bound()) && (m.disk == nil || f[len(f)-2] == m.disk.source) {
			return true
		}
	}
	return false
}

// bound is where the data folder lies in its file system.
func (m *machine) bound() string {
	if m.disk != nil {
		return "/data/"
	}
	return strings.TrimPrefix(m.data, shm) + "/"
}

// held is a guest process with a thread that stands at a point, 0 for none.
func (m *machine) held() int {
	for _, pid := range m.guests() {
		names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid)) // the pattern is right
		for _, name := range names {
			if raw, err := os.ReadFile(name); err == nil && string(raw) == "fault-held\n" {
				return pid
			}
		}
	}
	return 0
}

// stopped reports whether choir stands still at a point.
func (m *machine) stopped() bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.up.cmd.Process.Pid))
	if err != nil {
		return false
	}
	_, rest, ok := bytes.Cut(raw, []byte(") "))
	return ok && len(rest) > 0 && rest[0] == 'T'
}

// close leaves nothing behind.
func (m *machine) close() error {
	m.crash()
	for _, p := range []*process{m.driver, m.keeper} {
		if p != nil && !p.ended() {
			_ = p.cmd.Process.Kill() // it may have ended meanwhile
			<-p.done
		}
	}
	var err error
	if m.disk != nil {
		err = m.disk.close()
	}
	return errors.Join(err, os.RemoveAll(m.dir))
}
