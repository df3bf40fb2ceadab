package choir

import "testing"

// begun is an event of a second computer that says what its payload says.
func begun(t *testing.T, computer, user ID, p Payload) Event {
	t.Helper()
	raw, err := Canonical(p)
	if err != nil {
		t.Fatal(err)
	}
	return Event{Seq: 2, Computer: computer, User: user, Type: p.EventType(), Payload: raw, PrevHash: DigestOf([]byte("1"))}
}

func TestIdsChangeOnlyWhereAForkOrAnImportBegins(t *testing.T) {
	const other, stranger ID = "0198aaaa-0000-7000-8000-00000000000b", "0198aaaa-0000-7000-8000-00000000000c"
	one := DigestOf([]byte("1"))
	for name, c := range map[string]struct {
		second Event
		ok     bool
	}{
		"the same computer":      {begun(t, testComputer, testUser, SessionEnded{Reason: "x"}), true},
		"another computer":       {begun(t, other, testUser, SessionEnded{Reason: "x"}), false},
		"another user":           {begun(t, testComputer, stranger, SessionEnded{Reason: "x"}), false},
		"a fork":                 {begun(t, other, testUser, ComputerForked{From: testComputer, Seq: 1, Hash: one, Name: "x"}), true},
		"a fork by another user": {begun(t, other, stranger, ComputerForked{From: testComputer, Seq: 1, Hash: one, Name: "x"}), false},
		"an import":              {begun(t, other, stranger, ComputerImported{From: testComputer, Seq: 1, Hash: one, Archive: one, Name: "x"}), true},
		"a fork of a third":      {begun(t, other, testUser, ComputerForked{From: stranger, Seq: 1, Hash: one, Name: "x"}), false},
		"a fork at another hash": {begun(t, other, testUser, ComputerForked{From: testComputer, Seq: 1, Hash: ZeroHash, Name: "x"}), false},
		"a fork at another seq":  {begun(t, other, testUser, ComputerForked{From: testComputer, Seq: 3, Hash: one, Name: "x"}), false},
		"a fork into itself":     {begun(t, testComputer, stranger, ComputerImported{From: testComputer, Seq: 1, Hash: one, Archive: one, Name: "x"}), false},
	} {
		var l Lineage
		first := Event{Seq: 1, Computer: testComputer, User: testUser, Type: "computer.created"}
		third := c.second
		third.Seq, third.Type = 3, "session.ended"
		if err := l.Next(&first); err != nil {
			t.Fatal(err)
		}
		err := l.Next(&c.second)
		if (err == nil) != c.ok || err != nil && CodeOf(err) != CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
		if err := l.Next(&third); c.ok && err != nil {
			t.Errorf("%s, and on: %v", name, err)
		}
	}
}
