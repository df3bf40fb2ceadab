package supervisor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// numbers is a source of randomness that draws these.
func numbers(all ...uint32) io.Reader {
	var b []byte
	for _, n := range all {
		b = binary.LittleEndian.AppendUint32(b, n-firstDrawnProject)
	}
	return bytes.NewReader(b)
}

func TestAProjectIsDrawnThatIsNobodys(t *testing.T) {
	t.Parallel()
	taken := map[uint32]bool{firstDrawnProject + 1: true, firstDrawnProject + 2: true}
	is := func(id uint32) (bool, error) { return taken[id], nil }
	if id, err := drawProject(numbers(firstDrawnProject+1, firstDrawnProject+2, firstDrawnProject+3), is); err != nil || id != firstDrawnProject+3 {
		t.Errorf("%d, %v", id, err)
	}
	all := func(uint32) (bool, error) { return true, nil }
	if _, err := drawProject(numbers(slices.Repeat([]uint32{firstDrawnProject}, maxDraws)...), all); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("all are taken: %v", err)
	}
	broken := errors.New("broken")
	if _, err := drawProject(numbers(firstDrawnProject), func(uint32) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("the file system does not answer: %v", err)
	}
	if _, err := drawProject(strings.NewReader("x"), is); err == nil {
		t.Error("drawn without randomness")
	}
}

func TestProjectsOfTheHostAreRead(t *testing.T) {
	t.Parallel()
	got := map[uint32]bool{}
	readProjects(strings.NewReader("# a comment\nlogs:42\nbad\nworse:x\nmax:4294967295\nover:4294967296\n"), 1, got)
	readProjects(strings.NewReader("43:/var/log\n:\n\n"), 0, got)
	if want := []uint32{42, 43, 1<<32 - 1}; !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
		t.Errorf("%v", got)
	}
}

func TestAnOwnerWithAForeignProjectIsDamaged(t *testing.T) {
	t.Parallel()
	o := owner{User: choir.DeriveID("", "user"), Computers: []entry{{ID: choir.DeriveID("", "c"), DiskProject: firstDrawnProject}}}
	if err := o.check("owner.json"); err != nil {
		t.Error(err)
	}
	o.Computers[0].DiskProject = 7
	if err := o.check("owner.json"); choir.CodeOf(err) != choir.CodeCorrupt {
		t.Errorf("%v", err)
	}
}
