package choir

import "testing"

func TestASearchDomainCarriesItsMark(t *testing.T) {
	m := MarkOf("task", 7)
	wanted, at := CutSearchDomain("a.example.com." + m.SearchDomain())
	if back, ok := MarkAt(at); wanted != "a.example.com" || !ok || back != m {
		t.Errorf("%q of %s", wanted, at)
	}
	for _, name := range []string{
		"example.com", "mark.choir.internal", "x.mark.choir.internal", "a.127-0-16-1.mark.choir.internal", "a.10-0-0-1.mark.choir.internal",
		"a.1.mark.choir.internal", "a.127-1-2-3.mark.choir.internal.example.com",
	} {
		if wanted, at := CutSearchDomain(name); wanted != name || at.IsValid() {
			t.Errorf("%s gives %q of %s", name, wanted, at)
		}
	}
	for at := VirtualFirst; at.Compare(VirtualLast) <= 0; at = at.Next() {
		if _, ok := MarkAt(at); ok {
			t.Fatalf("%s is a mark", at)
		}
	}
}
