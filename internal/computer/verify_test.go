package computer

import (
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"choiros/internal/choir"
)

// TestARepairByAVerificationIsInTheLog changes a projection beside the computer,
// and has the log verified.
func TestARepairByAVerificationIsInTheLog(t *testing.T) {
	l := newFakeLab(t)
	if _, err := l.events.Append(l.within(), choir.RoleShell, choir.SettingChanged{Key: "volume", Value: "7"}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Store().Settings(l.within(), 0); err != nil {
		t.Fatal(err) // a read waits until the copy has the event
	}
	conn, err := sqlite.OpenConn(filepath.Join(l.cfg.Data, string(l.cfg.Computer), "store.sqlite"), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteTransient(conn, "UPDATE settings SET value = replace(value, '7', '8')", nil); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := l.Verifier().Verify(l.within())
	if err != nil || len(report.Repaired) != 1 {
		t.Fatalf("%+v %v", report, err)
	}
	events, err := l.Store().EventsAfter(l.within(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var told int
	for _, e := range events {
		if e.Type == "log.repaired" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the log says %d times that it was repaired, wanted once", told)
	}
}
