package computer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A page reads the marks again when one of the events in telling.ts arrived:
// what makes a mark and is not named there is not seen until a reload.
func TestPagesKnowEveryEventThatIsAMark(t *testing.T) {
	t.Parallel()
	for _, ui := range []string{"shell", "desktop"} {
		raw, err := os.ReadFile(filepath.Join("../../ui", ui, "src/domain/telling.ts"))
		if err != nil {
			t.Fatal(err)
		}
		_, list, found := strings.Cut(string(raw), "new Set<EventType>([")
		list, _, ended := strings.Cut(list, "])")
		if !found || !ended {
			t.Fatalf("%s: telling.ts has no list of events", ui)
		}
		for event, kind := range plainMarks {
			// It comes in one append with a snapshot.taken.
			if event == "caches.left_out" {
				continue
			}
			if !strings.Contains(list, `"`+string(event)+`"`) {
				t.Errorf("%s: telling.ts lacks %s, which is a mark of the kind %q", ui, event, kind)
			}
		}
	}
}
