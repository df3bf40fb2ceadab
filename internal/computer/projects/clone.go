package projects

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
)

// Link names the repository at a host that a project came from.
type Link struct {
	Name, URL  string
	Credential string // entry of the vault; "" for none
}

// NewClone describes a project to clone from a repository at a host.
type NewClone struct {
	Link
	// Gate is the address at which git inside reaches the repository.
	Gate string
}

// cloneLimit is how long a clone may take.
const cloneLimit = 30 * time.Minute

// adding holds the links of projects that are being cloned.
type adding struct {
	mu    sync.Mutex // guards links
	links []Link
}

// add adds a link until the returned function is called. Code busy: one of that name is there.
func (a *adding) add(l Link) (done func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	named := func(o Link) bool { return o.Name == l.Name }
	if slices.ContainsFunc(a.links, named) {
		return nil, choir.Refuse("computer.repo", choir.ReasonBeingCloned, choir.TextOf("name", l.Name))
	}
	a.links = append(slices.Clone(a.links), l)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.links = slices.DeleteFunc(slices.Clone(a.links), named)
	}, nil
}

// list returns the links.
func (a *adding) list() []Link {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.links
}

// unlink removes the link of a project.
func (k *known) unlink(name string) {
	k.links = slices.DeleteFunc(k.links, func(l Link) bool { return l.Name == name })
}

// Links returns the repositories at hosts that projects came from, and first the repositories of projects
// that are being cloned now.
func (p *Projects) Links(ctx context.Context) ([]Link, error) {
	k, err := p.read(ctx)
	return slices.Concat(p.adding.list(), k.links), err
}

// Clone clones a repository at a host with git in the sandbox, records it as a project and links
// it. The tree is not locked while git works, as it is not when a person clones in a terminal.
// Code conflict: there is something of that name, or a task works; unavailable: git failed, and
// its clone is gone again.
func (p *Projects) Clone(ctx context.Context, role choir.Role, n NewClone) (choir.RepoAdded, error) {
	added := choir.RepoAdded{Name: n.Name}
	if !choir.ValidRepoName(n.Name) {
		return added, choir.Refuse("computer.repo", choir.ReasonNoProjectName, choir.TextOf("name", n.Name)).At("name")
	}
	done, err := p.adding.add(n.Link)
	if err != nil {
		return added, err
	}
	defer done()
	client, err := p.prepareClone(ctx, n)
	if err != nil {
		return added, err
	}
	dest := path.Join(Folder, n.Name)
	if err := p.git(client, dest).clone(ctx, n); err != nil {
		_ = client.Remove(context.WithoutCancel(ctx), dest, true) // what git left of it
		return added, err
	}
	return p.recordClone(ctx, client, role, n, added)
}

// prepareClone records what nobody has recorded yet, and returns a client of the sandbox.
func (p *Projects) prepareClone(ctx context.Context, n NewClone) (*guest.Client, error) {
	unlock, err := p.workspace.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := p.workspace.MustBeIdle(ctx); err != nil {
		return nil, err
	}
	before, client, err := p.workspace.Scan(ctx)
	if err != nil {
		return nil, err
	}
	_, err = client.Stat(ctx, path.Join(Folder, n.Name))
	if err == nil {
		return nil, choir.Refuse("computer.repo", choir.ReasonPathExists, choir.TextOf("path", path.Join(Folder, n.Name)))
	}
	if choir.CodeOf(err) != choir.CodeNotFound {
		return nil, err
	}
	return client, p.workspace.RecordFor(ctx, before, workspace.ReasonOutside, nil)
}

// recordClone records the files of a clone as the role's, and the project with its link.
func (p *Projects) recordClone(ctx context.Context, client *guest.Client, role choir.Role, n NewClone, added choir.RepoAdded) (choir.RepoAdded, error) {
	unlock, err := p.workspace.Lock(ctx)
	if err != nil {
		return added, err
	}
	defer unlock()
	git := p.git(client, path.Join(Folder, n.Name))
	if added.Head, err = git.commit(ctx, "HEAD"); err != nil {
		return added, err
	}
	if added.Head != "" {
		sizes := &treeSizes{}
		if _, err := git.run(ctx, sizes, nil, nil, "ls-tree", "-r", "-l", "-z", "HEAD"); err != nil {
			return added, err
		}
		added.Files, added.Bytes = sizes.files, sizes.bytes
	}
	now, client, err := p.workspace.Scan(ctx)
	if err != nil {
		return added, err
	}
	if _, err := client.Stat(ctx, path.Join(Folder, n.Name)); err != nil {
		return added, err // somebody took it away meanwhile
	}
	drafts, err := p.workspace.Record(ctx, now, "repo_added", true)
	if err == nil {
		err = p.workspace.AppendChanges(ctx, role, drafts)
	}
	if err == nil {
		_, err = p.events.Append(ctx, role, added, choir.RepoLinked{Name: n.Name, URL: n.URL, Credential: n.Credential})
	}
	return added, err
}

// clone clones the repository into the folder. What git is told of the gateway stays in the new
// repository's configuration, so that fetch and push go there too.
func (r repository) clone(ctx context.Context, n NewClone) error {
	var said words
	parent := repository{client: r.client, inside: r.inside, folder: path.Dir(r.folder)}
	code, err := parent.runWithin(ctx, cloneLimit, &said, &said, nil,
		"clone", "--quiet", "-c", "url."+n.Gate+".insteadOf="+n.URL, "--", n.URL, path.Base(r.folder))
	if err == nil && code != 0 {
		err = choir.Refuse("computer.repo", choir.ReasonGitCloneFailed, choir.TextOf("address", n.URL), choir.TextOf("said", strings.ReplaceAll(said.String(), "\n", "; ")))
	}
	return err
}

// treeSizes counts what git ls-tree -r -l -z lists.
type treeSizes struct {
	files, bytes int64
	rest         []byte
}

func (s *treeSizes) Write(b []byte) (int, error) {
	s.rest = append(s.rest, b...)
	for {
		line, rest, ok := bytes.Cut(s.rest, []byte{0})
		if !ok {
			break
		}
		s.rest = rest
		s.files++
		head, _, _ := strings.Cut(string(line), "\t")
		if fields := strings.Fields(head); len(fields) == 4 {
			if size, err := strconv.ParseInt(fields[3], 10, 64); err == nil && size > 0 {
				s.bytes += size
			}
		}
	}
	if len(s.rest) > 64<<10 { // no path of a tree is that long
		s.rest = nil
	}
	return len(b), nil
}
