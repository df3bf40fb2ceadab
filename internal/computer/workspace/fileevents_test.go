package workspace

import (
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

func TestEventsOfManyFilesFitInline(t *testing.T) {
	t.Parallel()
	var changes []snapshot.Change
	name := strings.Repeat(`"\`, 100)
	for i := range int64(6000) {
		e := &snapshot.Entry{Kind: snapshot.File, Size: 1}
		changes = append(changes,
			snapshot.Change{Path: "new/" + name + strconv.FormatInt(i, 10), From: "old/" + name + strconv.FormatInt(i, 10), Kind: choir.ChangeRenamed, Before: e, After: e},
			snapshot.Change{Path: "gone/" + name + strconv.FormatInt(i, 10), Kind: choir.ChangeDeleted, Before: e})
	}
	written, removed := 0, 0
	for _, p := range FileEvents(changes, choir.DigestOf(nil)) {
		d := must(choir.NewDraft(must(newTestID())(t), p))(t)
		if len(d.Payload) > choir.InlineLimit {
			t.Fatalf("an event has %d bytes", len(d.Payload))
		}
		if _, err := choir.DecodePayload(d.Type, d.Payload); err != nil {
			t.Fatal(err)
		}
		switch p := p.(type) {
		case choir.FileWritten:
			written += len(p.Files)
		case choir.FileRemoved:
			removed += len(p.Paths)
		}
	}
	if written != 6000 || removed != 12000 {
		t.Errorf("%d written, %d removed", written, removed)
	}
}
