package firecrackertest

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"choiros/internal/inherited"
)

// Version is the version that both programs say they have, and OldVersion the version of a
// program that is too old.
const (
	Version    = "1.16.1"
	OldVersion = "1.10.1"
)

// What follows the name of the program makes a stand-in that has a fault.
const (
	Hangs   = "-hangs"   // it takes connections and answers nothing
	Dies    = "-dies"    // it ends in the middle of its second request
	Silent  = "-silent"  // the machine runs and never says that it is ready
	Mute    = "-mute"    // it pauses the machine and does not answer that
	Refuses = "-refuses" // it has no KVM, as it says when the machine is to start
	Old     = "-old"
)

// Main runs the program whose name is the first argument's, and returns its exit code.
func Main(args []string) int {
	name := filepath.Base(args[0])
	err := inherited.Close(inherited.Standard) // as the jailer does
	if errors.Is(err, os.ErrNotExist) {
		err = nil // a jail has no /proc, and its jailer has closed them
	}
	switch {
	case err != nil:
	case len(args) == 2 && args[1] == "--version":
		fmt.Printf("%s v%s\n\n", title(name), versionOf(name))
	case strings.HasPrefix(name, "jailer"):
		err = jail(args[1:])
	default:
		err = serve(args[1:], strings.TrimPrefix(name, "firecracker"))
	}
	if err != nil {
		fmt.Println("the stand-in:", err)
		return 1
	}
	return 0
}

func title(name string) string {
	if strings.HasPrefix(name, "jailer") {
		return "Jailer"
	}
	return "Firecracker"
}

func versionOf(name string) string {
	if strings.HasSuffix(name, Old) {
		return OldVersion
	}
	return Version
}

// serve is Firecracker: it serves its API until its machine ends.
func serve(args []string, fault string) error {
	flags := flag.NewFlagSet("firecracker", flag.ContinueOnError)
	id := flags.String("id", "", "")
	socket := flags.String("api-sock", "/run/firecracker.socket", "")
	for _, ignored := range []string{"start-time-us", "start-time-cpu-us", "parent-cpu-time-us"} {
		flags.String(ignored, "", "") // of the jailer
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *id == "" {
		return fmt.Errorf("the arguments %q are not Firecracker's", args)
	}
	check, err := newChecker()
	if err != nil {
		return err
	}
	l, err := net.Listen("unix", *socket)
	if err != nil {
		return err
	}
	s := &service{check: check, fault: fault, id: *id, ended: make(chan struct{}), stopped: make(chan struct{})}
	s.server = &http.Server{Handler: s}
	go s.stopAtEnd()
	if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-s.stopped
	return nil
}

// dieNow ends this process as a fault of its own would.
func dieNow() { syscall.Kill(os.Getpid(), syscall.SIGKILL) }
