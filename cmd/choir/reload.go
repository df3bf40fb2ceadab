package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// reloadOnHangup puts [egress] and [[approve]] of the configuration file in force each time choir
// gets SIGHUP, until ctx ends. A file with an error is told and leaves what was in force.
func (s *server) reloadOnHangup(ctx context.Context) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			if done, err := s.sys.ReloadEgress(ctx); err != nil {
				s.log.Error("egress: the configuration file was not taken, and what was in force stays", "error", err)
			} else {
				s.log.Info("egress: hosts and approvals of the configuration file are in force", "kind", done.Mode)
			}
		}
	}
}
