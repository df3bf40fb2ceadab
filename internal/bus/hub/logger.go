package hub

import (
	"fmt"
	"log/slog"
)

// logger writes the NATS server's warnings and errors to a slog.Logger and drops the rest.
type logger struct{ to *slog.Logger }

func (logger) Noticef(string, ...any) {}
func (logger) Debugf(string, ...any)  {}
func (logger) Tracef(string, ...any)  {}

func (l logger) Warnf(format string, v ...any) {
	l.to.Warn("the bus warns", "said", fmt.Sprintf(format, v...))
}

func (l logger) Errorf(format string, v ...any) {
	l.to.Error("the bus reports an error", "said", fmt.Sprintf(format, v...))
}

func (l logger) Fatalf(format string, v ...any) {
	l.to.Error("the bus gives up", "said", fmt.Sprintf(format, v...))
}
