package copies

import (
	"encoding/json"
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace/workspacetest"
)

// parted are two computers with one past, which changed differently since.
func parted(t *testing.T) (first, second *lab) {
	t.Helper()
	first = newLab(t)
	first.holds(map[string]string{"a": "1\n2\n3\n", "b": "b\n", ".env": "SECRET=1\n"})
	second = first.fork(t)
	second.WantFiles(map[string]string{"a": "1\n2\n3\n", "b": "b\n"}) // keys stay where they are
	first.Write("a", "one\n2\n3\n")
	second.Write("a", "1\n2\nthree\n")
	second.Write("new/deep", "new\n")
	second.Write("new/.env", "SECRET=2\n")
	return first, second
}

func TestWhatAnotherComputerChangedIsTaken(t *testing.T) {
	first, second := parted(t)
	before, head := first.Files(""), first.Head()
	would := must(first.TakeChanges(first.Within(), choir.RoleCLI, second.Copier, nil, true))(t)
	first.WantFiles(before)
	did := must(first.TakeChanges(first.Within(), choir.RoleCLI, second.Copier, nil, false))(t)
	first.WantFiles(map[string]string{"a": "one\n2\nthree\n", "b": "b\n", ".env": "SECRET=1\n", "new/deep": "new\n"})
	if would.Receipt.Seq != 0 || len(would.Changes) != len(did.Changes) || did.Receipt.Seq <= head {
		t.Errorf("it did %+v, the dry run says %+v", did, would)
	}
	var told choir.ChangesTaken
	if err := json.Unmarshal(first.All(choir.TypeChangesTaken)[0].Payload, &told); err != nil || told.From != second.Lab.Computer || told.Seq != second.Head() {
		t.Errorf("the log says %+v, %v", told, err)
	}
	// Its content is here now, whatever becomes of the other.
	if _, _, err := first.Keeper.Verify(first.Within(), did.To); err != nil {
		t.Error(err)
	}
	if again := must(first.TakeChanges(first.Within(), choir.RoleCLI, second.Copier, nil, false))(t); again.Receipt.Seq != 0 {
		t.Errorf("once more it changes %+v", again.Changes)
	}
}

func TestOnlySomePathsAreTaken(t *testing.T) {
	first, second := parted(t)
	if _, err := first.TakeChanges(first.Within(), choir.RoleCLI, second.Copier, []string{"b"}, false); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("a path that did not change: %v", err)
	}
	must(first.TakeChanges(first.Within(), choir.RoleCLI, second.Copier, []string{"new/deep"}, false))(t)
	first.WantFiles(map[string]string{"a": "one\n2\n3\n", "b": "b\n", ".env": "SECRET=1\n", "new/deep": "new\n"})
}

func TestNothingIsTakenOfAConflict(t *testing.T) {
	first, second := parted(t)
	first.Write("a", "1\n2\ndrei\n")
	before := first.Files("")
	got, err := first.TakeChanges(first.Within(), choir.RoleCLI, second.Copier, nil, false)
	if choir.CodeOf(err) != choir.CodeConflict || len(got.Conflicts) != 1 || got.Conflicts[0].Path != "a" {
		t.Errorf("%+v, %v", got.Conflicts, err)
	}
	first.WantFiles(before)
}

func TestComputersWithoutACommonPastTakeNothing(t *testing.T) {
	first := newLab(t)
	first.holds(map[string]string{"a": "1\n"})
	other := openLab(t, first.User, workspacetest.NewID(t), memoryDir(t))
	must(other.Events.Append(other.Within(), choir.RoleControl, choir.ComputerCreated{Name: "other", Format: 1}))(t)
	other.holds(map[string]string{"a": "2\n"})
	if _, err := first.TakeChanges(first.Within(), choir.RoleCLI, other.Copier, nil, false); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("a stranger: %v", err)
	}
	if _, err := first.TakeChanges(first.Within(), choir.RoleCLI, first.Copier, nil, false); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("itself: %v", err)
	}
	if c := must(first.Compare(first.Within(), other.Copier))(t); c.Common != 0 || len(c.Files) != 1 {
		t.Errorf("compared: %+v", c)
	}
}

func TestTwoComputersAreComparedAsTheyAreNow(t *testing.T) {
	first, second := parted(t)
	second.WriteOutside("unrecorded", "x\n")
	c := must(first.Compare(first.Within(), second.Copier))(t)
	var got []string
	for _, f := range c.Files {
		got = append(got, string(f.Change)+" "+f.Path)
	}
	if want := []string{"deleted .env", "modified a", "added new/.env", "added new/deep", "added unrecorded"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	forked := first.All(choir.TypeSnapshotTaken)[0].Seq
	if c.Common != forked || c.Cut {
		t.Errorf("they share %d events, want %d", c.Common, forked)
	}
}
