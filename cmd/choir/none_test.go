package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// TestAnEmptyListSaysSo: a newcomer took lists that printed nothing for a fault.
func TestAnEmptyListSaysSo(t *testing.T) {
	m := newMachine(t, "")
	m.up()
	other := m.client().computer
	var moment string
	m.eventually("the first snapshot", func() error {
		for _, e := range m.client().log(t) {
			if e.Type == choir.TypeSnapshotTaken {
				moment = strconv.FormatUint(e.Seq, 10)
				return nil
			}
		}
		return errNotYet
	})
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"run"}, "Nothing was asked for yet."},
		{[]string{"repo", "list"}, "There is no project yet."},
		{[]string{"trash"}, "The trash is empty."},
		{[]string{"vault", "list"}, "The vault is empty."},
		{[]string{"egress"}, "nothing is granted."},
		{[]string{"timeline"}, "There is no moment to go back to."},
		{[]string{"diff", moment, moment}, "Nothing differs."},
		{[]string{"diff", "--with", string(other)}, "are the same."},
	} {
		if out := m.must(c.args...); !strings.Contains(out, c.says) {
			t.Errorf("%v: %q lacks %q", c.args, out, c.says)
		}
		if out := m.must(append(c.args, "--json")...); !json.Valid([]byte(out)) || strings.Contains(out, c.says) {
			t.Errorf("%v --json: %q", c.args, out)
		}
	}
}
