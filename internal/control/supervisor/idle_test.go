package supervisor

import (
	"testing"

	"choiros/internal/config"
	"choiros/internal/control/hibernation"
)

func TestTheDoctorSaysWhatIdleComputersDo(t *testing.T) {
	t.Parallel()
	n := hibernation.Counts{Open: 2, Frozen: 1, Hibernated: 3}
	for _, c := range []struct {
		wanted config.Computers
		want   string
	}{
		{config.Computers{HibernateAfter: "30m", FreezeAfter: "5m", Ready: 1}, "2 open, 1 of them standing still, 3 hibernated, 0 failed to open; an idle one hibernates after 30m; " +
			"sandboxes for the next start of those used last wait ready, for at most 1 of them; the programs of an idle one stand still after 5m, until the next request"},
		{config.Computers{HibernateAfter: "1h", FreezeAfter: "0"}, "2 open, 1 of them standing still, 3 hibernated, 0 failed to open; an idle one hibernates after 1h"},
		{config.Computers{HibernateAfter: "0", FreezeAfter: "5m", Ready: 1}, "2 open, 1 of them standing still, 3 hibernated, 0 failed to open; none hibernates while choir runs (computers.hibernate_after); " +
			"the programs of an idle one stand still after 5m, until the next request"},
	} {
		if got := hibernationCheck(n, c.wanted); !got.OK || got.Detail != c.want {
			t.Errorf("%+v: %q", c.wanted, got.Detail)
		}
	}
}
