package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// reloadOnHangup puts the section [egress] of the configuration file in force each time choir
// gets SIGHUP, until ctx ends. A file with an error is told and leaves the old policy.
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
				s.log.Error("egress: the configuration file was not taken, and the old policy stays", "error", err)
			} else {
				s.log.Info("egress: the policy of the configuration file is in force", "kind", done.Mode)
			}
		}
	}
}
