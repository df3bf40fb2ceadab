package timeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

var nowStamp = snapshot.Stamp{Sec: 2_000_000_000}

// place is a folder whose snapshots are kept.
type place struct {
	t       testing.TB
	dir     string
	scanner *snapshot.Scanner
	keeper  *snapshot.Keeper
}

func newPlace(t testing.TB) *place {
	t.Helper()
	dir := t.TempDir()
	return &place{t, dir, snapshot.NewScanner(dir, snapshot.ScanConfig{}), snapshot.NewKeeper(mem.New(mem.Config{}))}
}

// sh runs a script in the folder.
func (p *place) sh(script string) string {
	p.t.Helper()
	c := exec.Command("sh", "-ec", script)
	c.Dir = p.dir
	out, err := c.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v: %s", script, err, out)
	}
	return string(out)
}

// keep takes a snapshot.
func (p *place) keep() choir.Digest {
	p.t.Helper()
	ctx := context.Background()
	in, err := p.keeper.NewIntake(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	defer in.Discard()
	add := func(o snapshot.Object) error { return in.Add(ctx, o) }
	got, err := p.scanner.Scan(ctx, add)
	if err != nil {
		p.t.Fatal(err)
	}
	for {
		need, err := in.Need(ctx, got.Root, 100)
		if err != nil {
			p.t.Fatal(err)
		}
		if len(need) == 0 {
			break
		}
		if missing, err := p.scanner.Fetch(ctx, need, add); err != nil || len(missing) > 0 {
			p.t.Fatalf("missing %v, %v", missing, err)
		}
	}
	if _, _, err := in.Commit(ctx, got.Root); err != nil {
		p.t.Fatal(err)
	}
	return got.Root
}

func (p *place) restore(root choir.Digest) {
	p.t.Helper()
	if _, err := p.scanner.Restore(context.Background(), root, p.keeper, snapshot.RestoreOptions{}); err != nil {
		p.t.Fatal(err)
	}
}

// sides makes base, and from it theirs and ours.
func (p *place) sides(base, theirs, ours string) (b, t, o choir.Digest) {
	p.t.Helper()
	p.sh(base)
	b = p.keep()
	p.sh(theirs)
	t = p.keep()
	p.restore(b)
	p.sh(ours)
	return b, t, p.keep()
}

func (p *place) merge(b, t, o choir.Digest) Merged {
	p.t.Helper()
	m, err := Merge(context.Background(), p.keeper, b, t, o, nowStamp)
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

const lines = "printf '1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n' > a"

func TestMerge(t *testing.T) {
	const show = "find . -not -name . | LC_ALL=C sort; "
	for name, c := range map[string]struct {
		base, theirs, ours string
		show, want         string
		conflicts          []string
	}{
		"both sides, other files": {"echo 1 > a; echo 1 > b; mkdir d", "echo 2 > a; rmdir d", "echo 2 > b; echo 3 > c", show + "cat a b c", "./a\n./b\n./c\n2\n2\n3\n", nil},
		"the same on both sides":  {"echo 1 > a", "echo 2 > a; mkdir d; echo x > d/x", "echo 2 > a; mkdir d; echo x > d/x", show + "cat a", "./a\n./d\n./d/x\n2\n", nil},
		"lines apart":             {lines, "sed -i s/2/two/ a", "sed -i s/7/seven/ a", "cat a", "1\ntwo\n3\n4\n5\n6\nseven\n8\n", nil},
		"the same lines":          {lines, "sed -i s/2/two/ a; sed -i s/8/8t/ a", "sed -i s/2/two/ a", "cat a", "1\ntwo\n3\n4\n5\n6\n7\n8t\n", nil},
		"one line on both sides":  {lines, "sed -i s/2/two/ a", "sed -i s/2/zwei/ a", "", "", []string{"a"}},
		"lines that touch":        {lines, "sed -i s/2/two/ a", "sed -i s/3/three/ a", "", "", []string{"a"}},
		"insertions at one place": {lines, "sed -i 2aone a", "sed -i 2aother a", "", "", []string{"a"}},
		"text and mode":           {lines, "chmod 755 a", "echo 9 >> a", "tail -1 a; stat -c %a a", "9\n755\n", nil},
		"two modes":               {lines, "chmod 755 a", "chmod 700 a", "", "", []string{"a"}},
		"two binary changes":      {"printf '\\0a' > a", "printf '\\0b' > a", "printf '\\0c' > a", "", "", []string{"a"}},
		"changed and removed":     {"echo 1 > a", "echo 2 > a", "rm a", "", "", []string{"a"}},
		"removed and changed":     {"echo 1 > a", "rm a", "echo 2 > a", "", "", []string{"a"}},
		"removed on both sides":   {"echo 1 > a; echo 1 > b", "rm a", "rm a b", show, "", nil},
		"two new files, one name": {"true", "echo 1 > a", "echo 2 > a", "", "", []string{"a"}},
		"a folder that is filled": {"mkdir d; echo 1 > d/a", "rm -r d", "echo 2 > d/b", show, "./d\n./d/b\n", nil},
		"a folder that is needed": {"mkdir d; echo 1 > d/a; echo 1 > d/b", "echo 2 > d/c", "rm -r d", show, "./d\n./d/c\n", nil},
		"file into folder":        {"echo 1 > a", "rm a; mkdir a; echo 2 > a/x", "echo 1 > b", show, "./a\n./a/x\n./b\n", nil},
		"folder into file":        {"mkdir a; echo 2 > a/x", "rm -r a; echo 1 > a", "echo 1 > b", show + "cat a", "./a\n./b\n1\n", nil},
		"folder with more in it":  {"mkdir a; echo 2 > a/x", "rm -r a; echo 1 > a", "echo 1 > a/y", "", "", []string{"a"}},
		"a file in the way":       {"mkdir a; echo 2 > a/x", "echo 1 > a/y", "rm -r a; echo 1 > a", "", "", []string{"a/y"}},
		"links":                   {"ln -s x l; ln -s x m", "ln -sfn y l", "ln -sfn z m", "readlink l m", "y\nz\n", nil},
		"two targets":             {"ln -s x l", "ln -sfn y l", "ln -sfn z l", "", "", []string{"l"}},
		"renamed and changed":     {"echo one > a; echo two > b", "mv a c", "echo 2 > b", show + "cat c", "./b\n./c\none\n", nil},
		"case only":               {"echo one > Readme", "mv Readme README", "echo 2 > b", show, "./README\n./b\n", nil},
		"not UTF-8":               {"printf 1 > \"$(printf 'x\\377')\"", "printf 2 > \"$(printf 'x\\377')\"", "echo 2 > b", "cat \"$(printf 'x\\377')\"", "2", nil},
		"only touched":            {"echo 1 > a", "touch -d 2001-01-01 a", "echo 2 > a", "cat a", "2\n", nil},
		"git's own stays":         {"mkdir .git; echo 1 > .git/HEAD; echo 1 > a", "echo 2 > .git/HEAD; echo 2 > a", "echo 3 > .git/HEAD", "cat a .git/HEAD", "2\n3\n", nil},
		"git's folder comes back": {"mkdir r", "mkdir r/.git; echo 1 > r/.git/HEAD", "echo 3 > a", "cat r/.git/HEAD", "1\n", nil},
		"git's folder goes":       {"mkdir -p r/.git; echo 1 > r/.git/HEAD; echo 2 > r/x", "rm -r r", "echo 3 > a", show, "./a\n", nil},
		"git's folder is kept":    {"mkdir -p r/.git; echo 1 > r/.git/HEAD; echo 2 > r/x", "rm -r r", "echo 3 > r/.git/HEAD", show, "./r\n./r/.git\n./r/.git/HEAD\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			b, th, o := p.sides(c.base, c.theirs, c.ours)
			m := p.merge(b, th, o)
			var paths []string
			for _, x := range m.Conflicts {
				paths = append(paths, x.Path)
			}
			if !slices.Equal(paths, c.conflicts) {
				t.Fatalf("conflicts at %q, want %q", paths, c.conflicts)
			}
			if len(paths) > 0 {
				if m.Root != "" || m.Changes != nil {
					t.Errorf("with conflicts it gives %s, %d changes", m.Root, len(m.Changes))
				}
				return
			}
			p.restore(m.Root)
			if got := p.sh(c.show); got != c.want {
				t.Errorf("the merged tree shows\n%swant\n%s", got, c.want)
			}
			if again := p.merge(b, th, m.Root); len(again.Conflicts) == 0 && len(again.Changes) > 0 {
				t.Errorf("once more it changes %+v", again.Changes)
			}
		})
	}
}

// TestWhatIsUndoneAtOnceIsAsBefore holds for every change: with nothing in
// between, taking it back gives the very tree that was, times included.
func TestWhatIsUndoneAtOnceIsAsBefore(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			p := newPlace(t)
			for range 12 {
				p.scribble(random, "")
			}
			before := p.keep()
			for range 12 {
				p.scribble(random, "")
			}
			after := p.keep()
			m := p.merge(after, before, after)
			if m.Root != before {
				t.Errorf("it gives %s, before it was %s: %+v", m.Root, before, m.Conflicts)
			}
		})
	}
}

// TestWhatCommutesCommutes: changes in folders of their own can be made and
// taken back in any order.
func TestWhatCommutesCommutes(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 2))
			p := newPlace(t)
			p.sh("mkdir mine yours")
			for range 8 {
				p.scribble(random, "mine")
				p.scribble(random, "yours")
			}
			base := p.keep()
			for range 6 {
				p.scribble(random, "mine")
			}
			mine := p.keep()
			for range 6 {
				p.scribble(random, "yours")
			}
			both := p.keep()
			// Take mine back from under yours, and do it again.
			undone := p.merge(mine, base, both)
			again := p.merge(base, mine, undone.Root)
			if len(undone.Conflicts)+len(again.Conflicts) > 0 || again.Root != both {
				t.Errorf("undone %+v, again %s, want %s", undone.Conflicts, again.Root, both)
			}
			onlyYours := p.merge(base, both, undone.Root)
			if onlyYours.Root != both {
				t.Errorf("both over yours gives %s, want %s", onlyYours.Root, both)
			}
		})
	}
}

// scribble makes one random change below a folder.
func (p *place) scribble(random *rand.Rand, dir string) {
	p.t.Helper()
	name := filepath.Join(p.dir, dir, string(rune('a'+random.IntN(4))))
	if random.IntN(2) == 0 {
		name = filepath.Join(name, string(rune('x'+random.IntN(3))))
	}
	var err error
	switch random.IntN(6) {
	case 0:
		p.clear(name)
	case 1:
		p.clear(name)
		err = os.Symlink(fmt.Sprint(random.IntN(9)), name)
	case 2:
		p.clear(name)
		err = os.Mkdir(name, 0o700|os.FileMode(random.IntN(0o100)))
	default:
		p.clear(name)
		err = os.WriteFile(name, fmt.Append(nil, random.IntN(9)), 0o600|os.FileMode(random.IntN(0o100)))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// clear makes room for a path.
func (p *place) clear(name string) {
	p.t.Helper()
	parent := filepath.Dir(name)
	if info, err := os.Lstat(parent); err != nil || !info.IsDir() {
		if err := os.RemoveAll(parent); err != nil {
			p.t.Fatal(err)
		}
		if err := os.Mkdir(parent, 0o755); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := os.RemoveAll(name); err != nil {
		p.t.Fatal(err)
	}
}
