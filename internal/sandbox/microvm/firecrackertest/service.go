package firecrackertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"

	"choiros/internal/sandbox/microvm/firecracker"
)

// service answers the requests of the API, in the order that Firecracker demands.
type service struct {
	check   *checker
	fault   string
	id      string
	server  *http.Server
	ended   chan struct{} // closed when the machine has ended
	stopped chan struct{}

	mu       sync.Mutex // guards what follows; one request is answered at a time
	requests int
	configured
	before  bool // something was configured
	machine *guest
	paused  bool
}

// configured holds what requests have said of the machine. The state of a snapshot has it.
type configured struct {
	Machine *firecracker.MachineConfig `json:"machine"`
	Boot    *firecracker.BootSource    `json:"boot"`
	Drives  []firecracker.Drive        `json:"drives"`
	Vsock   *firecracker.Vsock         `json:"vsock"`
}

// refusal is an error in Firecracker's words.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// The errors of Firecracker for requests at the wrong time.
const (
	errAfter  = refusal("The requested operation is not supported after starting the microVM.")
	errBefore = refusal("The requested operation is not supported before starting the microVM.")
)

// ServeHTTP implements http.Handler.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	switch {
	case s.fault == Hangs:
		<-r.Context().Done()
		return
	case s.fault == Dies && s.requests == 2:
		dieNow()
	}
	var body []byte
	err := s.check.check(r)
	if err == nil {
		body, err = io.ReadAll(r.Body)
	}
	var answer any
	if err == nil {
		answer, err = s.do(r.Method, r.URL.Path, body)
	}
	if s.fault == Mute && s.paused {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{"fault_message": err.Error()})
	case answer != nil:
		json.NewEncoder(w).Encode(answer)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// do does what a request says, which was held against the description.
func (s *service) do(method, path string, body []byte) (any, error) {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	started := s.machine != nil
	switch method + " " + first {
	case "GET ":
		return firecracker.InstanceInfo{ID: s.id, State: s.state(), Version: Version}, nil
	case "GET version":
		return map[string]string{"firecracker_version": Version}, nil
	case "PUT machine-config", "PUT boot-source", "PUT drives", "PUT vsock":
		if started {
			return nil, errAfter
		}
		s.before = true
		return nil, s.configure(first, path, body)
	case "PUT actions":
		return nil, s.act(body)
	case "PATCH vm":
		if !started {
			return nil, errBefore
		}
		return nil, s.setState(body)
	case "PUT snapshot":
		return nil, s.snapshot(path, body)
	}
	return nil, fmt.Errorf("the stand-in does not do %s %s", method, path)
}

func (s *service) state() string {
	switch {
	case s.machine == nil:
		return "Not started"
	case s.paused:
		return "Paused"
	}
	return "Running"
}

// names matches a name that the API allows in paths.
var names = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

func (s *service) configure(what, path string, body []byte) error {
	switch what {
	case "machine-config":
		s.Machine = &firecracker.MachineConfig{}
		return json.Unmarshal(body, s.Machine)
	case "vsock":
		s.Vsock = &firecracker.Vsock{}
		return json.Unmarshal(body, s.Vsock)
	case "boot-source":
		s.Boot = &firecracker.BootSource{}
		if err := json.Unmarshal(body, s.Boot); err != nil {
			return err
		}
		if err := beginsWith(s.Boot.Kernel, 0, "\x7fELF"); err != nil {
			return refuse("Boot source error: The kernel file cannot be opened: %v", err)
		}
		return nil
	}
	var d firecracker.Drive
	if err := json.Unmarshal(body, &d); err != nil {
		return err
	}
	switch id := strings.TrimPrefix(path, "/drives/"); {
	case id != d.ID:
		return refusal("The id from the path does not match the id from the body!")
	case !names.MatchString(id):
		return refusal("API Resource IDs can only contain alphanumeric characters and underscores.")
	}
	how := os.O_RDWR
	if d.ReadOnly {
		how = os.O_RDONLY
	}
	f, err := os.OpenFile(d.Path, how, 0)
	if err != nil {
		return refuse("Drive config error: Unable to open the block device backing file: %v", err)
	}
	f.Close()
	s.Drives = append(s.Drives, d)
	return nil
}

// beginsWith returns an error unless a file has text at an offset.
func beginsWith(path string, at int64, text string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	have := make([]byte, len(text))
	if _, err := f.ReadAt(have, at); err != nil || string(have) != text {
		return fmt.Errorf("%s has %q where %q must be", path, have, text)
	}
	return nil
}

func (s *service) act(body []byte) error {
	var a struct {
		Type firecracker.Action `json:"action_type"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return err
	}
	switch {
	case a.Type == firecracker.InstanceStart && s.machine != nil:
		return errAfter
	case a.Type == firecracker.InstanceStart:
		return s.start(nil)
	case s.machine == nil:
		return errBefore
	}
	s.machine.stop()
	return nil
}

// start starts the machine, with the memory of a snapshot if that is not nil.
func (s *service) start(memory []byte) error {
	switch {
	case s.Boot == nil:
		return refusal("Cannot start microvm without kernel configuration.")
	case s.fault == Refuses:
		return refusal("Start microvm error: Error creating KVM object: No such file or directory (os error 2)")
	}
	g, err := startGuest(s.configured, memory, s.fault == Silent, func() { close(s.ended) })
	if err == nil {
		s.machine = g
	}
	return err
}

func (s *service) setState(body []byte) error {
	var v struct {
		State firecracker.VMState `json:"state"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	if paused := v.State == firecracker.Paused; paused != s.paused {
		s.paused = paused
		s.machine.pause(paused)
	}
	return nil
}

func (s *service) snapshot(path string, body []byte) error {
	if strings.HasSuffix(path, "/create") {
		var to firecracker.SnapshotTo
		switch err := json.Unmarshal(body, &to); {
		case err != nil:
			return err
		case s.machine == nil:
			return errBefore
		case !s.paused:
			return refusal("Create snapshot error: Cannot save the microVM state: Operation not allowed while the VM is running")
		}
		return s.write(to)
	}
	var from firecracker.SnapshotFrom
	switch err := json.Unmarshal(body, &from); {
	case err != nil:
		return err
	case s.machine != nil:
		return errAfter
	case s.before:
		return refusal("Load snapshot error: Loading a microVM snapshot not allowed after configuring boot-specific resources.")
	}
	return s.load(from)
}

// write writes the state and the memory of a machine.
func (s *service) write(to firecracker.SnapshotTo) error {
	state, err := json.Marshal(s.configured)
	if err != nil {
		return err
	}
	var memory bytes.Buffer
	if err := s.machine.pack(&memory); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to.State, state, 0o600), os.WriteFile(to.Memory, memory.Bytes(), 0o600))
}

func (s *service) load(from firecracker.SnapshotFrom) error {
	state, err := os.ReadFile(from.State)
	if err != nil {
		return err
	}
	memory, err := os.ReadFile(from.Memory.Path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(state, &s.configured); err != nil {
		return refuse("Load snapshot error: %v", err)
	}
	for _, d := range s.Drives {
		if _, err := os.Stat(d.Path); err != nil {
			return refuse("Load snapshot error: %v", err)
		}
	}
	if err := s.start(memory); err != nil {
		return err
	}
	if s.paused = !from.Resume; s.paused {
		s.machine.pause(true)
	}
	return nil
}

// stopAtEnd ends the service once its machine has ended, behind the answer to a request.
func (s *service) stopAtEnd() {
	<-s.ended
	s.server.Shutdown(context.Background()) // it can only be closed already
	close(s.stopped)
}
