package firecrackertest

import (
	"context"
	"encoding/json"
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
	machine *guest
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
		return nil, s.configure(first, path, body)
	case "PUT actions":
		return nil, s.act(body)
	}
	return nil, fmt.Errorf("the stand-in does not do %s %s", method, path)
}

func (s *service) state() string {
	switch {
	case s.machine == nil:
		return "Not started"
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
		return s.start()
	case s.machine == nil:
		return errBefore
	}
	s.machine.stop()
	return nil
}

// start starts the machine.
func (s *service) start() error {
	switch {
	case s.Boot == nil:
		return refusal("Cannot start microvm without kernel configuration.")
	case s.fault == Refuses:
		return refusal("Start microvm error: Error creating KVM object: No such file or directory (os error 2)")
	}
	g, err := startGuest(s.configured, s.fault == Silent, func() { close(s.ended) })
	if err == nil {
		s.machine = g
	}
	return err
}

// stopAtEnd ends the service once its machine has ended, behind the answer to a request.
func (s *service) stopAtEnd() {
	<-s.ended
	s.server.Shutdown(context.Background()) // it can only be closed already
	close(s.stopped)
}
