package hub_test

import (
	"testing"

	"choiros/internal/bus/bustest"
	"choiros/internal/choir"
)

// TestPagesAreCountedByTheirComputer connects pages of two computers, and roles, which are
// no pages.
func TestPagesAreCountedByTheirComputer(t *testing.T) {
	t.Parallel()
	s := bustest.Start(t)
	one, other := bustest.NewHome(t), bustest.NewHome(t)
	bustest.Dial(t, s, choir.RoleDirector, one)
	connect(t, s, choir.RoleShell, one)
	page := connect(t, s, choir.RoleDesktop, one)
	connect(t, s, choir.RoleDesktop, other)
	pages, err := s.Pages()
	if err != nil || len(pages) != 2 || pages[one.Computer] != 2 || pages[other.Computer] != 1 {
		t.Errorf("%v, %v", pages, err)
	}
	page.Close()
	for pages[one.Computer] != 1 { // the server learns of it soon
		if pages, err = s.Pages(); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if _, err := s.Pages(); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("a closed bus says %v", err)
	}
}
