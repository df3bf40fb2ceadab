// Choir is the Automatic Computer: one binary that serves a computer which
// agents work in, and the commands to use it from a terminal.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"choiros/internal/inherited"
)

// version is choir's version, set by the linker.
var version = "dev"

// ballast enlarges the heap by memory that is never touched and so costs nothing, so that the garbage
// collector runs less often while the heap is small, as in the replay of a log.
var ballast = make([]byte, 32<<20)

func main() {
	// Before anything is started: what the terminal, a script or a supervisor left
	// open is nothing for a sandbox.
	inheritance := inherited.KeepFromChildren()
	runtime.KeepAlive(ballast)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := newApp()
	if err := errors.Join(inheritance, followFaults(a.env)); err != nil {
		os.Exit(a.report(err))
	}
	os.Exit(execute(ctx, os.Args[1:], a))
}
