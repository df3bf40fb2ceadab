// Choir is the Automatic Computer: one binary that serves a computer which
// agents work in, and the commands to use it from a terminal.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := newApp()
	if err := followFaults(a.env); err != nil {
		os.Exit(a.report(err))
	}
	os.Exit(execute(ctx, os.Args[1:], a))
}
