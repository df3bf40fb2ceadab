package projects

import (
	"context"
	"maps"
	"net/url"
	"path"
	"sync"
	"time"

	"choiros/internal/choir"
)

// PushConfig says where commits of checkpoints are pushed to.
type PushConfig struct {
	Computer choir.ID
	// Remote returns the address of the repository that a project is pushed to, and where git
	// inside reaches it; ok is false for none. The link is empty for a project without one.
	Remote func(name string, link Link) (url, gate string, ok bool)
	// After returns a channel that receives after d, as time.After.
	After func(d time.Duration) <-chan time.Time
}

// Push is the state of a project's pushes.
type Push struct {
	URL, Commit string // what the host has
	Wanted      string // the commit of the newest checkpoint; "" for none
	Attempts    int    // that failed since Wanted was made
	Said        string // what git said at the last of them; untrusted
}

// Pending reports whether there is something to push.
func (p Push) Pending() bool { return p.Wanted != "" && p.Wanted != p.Commit }

// pushes are the states of all projects, by name.
type pushes map[string]Push

func (s pushes) clone() pushes {
	if s == nil {
		return pushes{}
	}
	return maps.Clone(s)
}

func (s *pushes) change(name string, do func(*Push)) {
	if *s == nil {
		*s = pushes{}
	}
	one := (*s)[name]
	do(&one)
	(*s)[name] = one
}

// committed notes the commit of a checkpoint.
func (s *pushes) committed(c choir.Commit) {
	if c.Repo == "" {
		return
	}
	s.change(c.Repo, func(p *Push) {
		if p.Wanted != c.Commit {
			p.Wanted, p.Attempts, p.Said = c.Commit, 0, ""
		}
	})
}

func (s *pushes) pushed(e choir.RepoPushed) {
	s.change(e.Name, func(p *Push) { p.URL, p.Commit, p.Attempts, p.Said = e.URL, e.Commit, 0, "" })
}

func (s *pushes) failed(e choir.RepoPushFailed) {
	s.change(e.Name, func(p *Push) {
		if p.Wanted == e.Commit {
			p.Attempts, p.Said = e.Attempts, e.Said
		}
	})
}

// Pushes returns the states of the pushes of projects, by name.
func (p *Projects) Pushes(ctx context.Context) (map[string]Push, error) {
	k, err := p.read(ctx)
	return k.pushes, err
}

// The waits between two attempts to push a commit: doubled each time.
const (
	firstWait = 5 * time.Second
	longWait  = 10 * time.Minute
)

// Pushing reports whether git pushes a project now. Its sandbox must not be paused or ended then.
func (p *Projects) Pushing() bool { return p.pushing.Load() > 0 }

// waitAfter returns how long to wait after a number of failed attempts.
func waitAfter(attempts int) time.Duration {
	if attempts > 10 {
		return longWait
	}
	return min(firstWait<<max(0, attempts-1), longWait)
}

// String returns the name of the service.
func (p *Projects) String() string { return "pushes" }

// How many projects are pushed at once: in all, and to one server, which may be slow.
const (
	maxPushes    = 8
	maxPerServer = 2
)

// Serve pushes the commits of checkpoints until ctx ends: one after the other of a project, and
// several projects at once. What is to be pushed follows from the log, so that a restart forgets
// nothing; pushing a commit that the host has changes nothing there.
func (p *Projects) Serve(ctx context.Context) error {
	if p.push.Remote == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := pusher{tried: map[string]attempt{}, at: map[string]string{}, ended: make(chan pushEnd, maxPushes), all: &all}
	for {
		head, _ := p.log.Head()
		next, err := p.pushDue(ctx, &s)
		if err != nil {
			return err
		}
		if err := p.waitForNews(ctx, head, next, &s); err != nil {
			return err
		}
	}
}

// pusher is the pushes of a computer. It belongs to Serve.
type pusher struct {
	tried map[string]attempt // the last one of each project
	at    map[string]string  // the servers of the projects that are being pushed
	ended chan pushEnd       // has room for all that are being pushed
	all   *sync.WaitGroup
}

// attempt is a failed attempt to push a commit.
type attempt struct {
	commit string
	again  time.Time // when the commit may be tried again, by this process's clock
}

// pushEnd is the end of a push.
type pushEnd struct {
	name, commit string
	failed       int
	err          error
}

// mayPush reports whether there is room for one more push to a server.
func (s *pusher) mayPush(server string) bool {
	there := 0
	for _, at := range s.at {
		if at == server {
			there++
		}
	}
	return len(s.at) < maxPushes && there < maxPerServer
}

// recordEnd records the end of a push.
func (s *pusher) recordEnd(e pushEnd) error {
	delete(s.at, e.name)
	if e.failed > 0 {
		s.tried[e.name] = attempt{e.commit, time.Now().Add(waitAfter(e.failed))}
	}
	return e.err
}

// pushDue begins to push each project whose time has come and for which there is room, and returns
// how long until the next one; 0 for nothing to wait for but the end of others.
func (p *Projects) pushDue(ctx context.Context, s *pusher) (next time.Duration, err error) {
	k, err := p.read(ctx)
	if err != nil {
		return 0, err
	}
	for _, added := range k.list {
		name, state := added.Name, k.pushes[added.Name]
		url, gate, ok := p.push.Remote(name, k.link(name))
		if !ok || !state.Pending() && (state.Wanted == "" || state.URL == url) {
			continue
		}
		if last := s.tried[name]; last.commit == state.Wanted && time.Until(last.again) > 0 {
			next = soonest(next, time.Until(last.again))
			continue
		}
		server := serverOf(url)
		if _, runs := s.at[name]; runs || !s.mayPush(server) {
			continue
		}
		s.at[name] = server
		s.all.Go(func() {
			failed, err := p.pushOne(ctx, name, state, url, gate)
			s.ended <- pushEnd{name, state.Wanted, failed, err}
		})
	}
	return next, nil
}

// serverOf returns the server of a repository's address; all of the address if it has none.
func serverOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

// soonest returns the shorter of two waits, of which 0 is none.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// link returns the link of a project; the zero value for none.
func (k known) link(name string) Link {
	for _, l := range k.links {
		if l.Name == name {
			return l
		}
	}
	return Link{}
}

// pushOne pushes the wanted commit to the computer's branch and records how that ended. It
// returns the number of attempts that failed, 0 if this one did not.
func (p *Projects) pushOne(ctx context.Context, name string, state Push, url, gate string) (failed int, err error) {
	p.pushing.Add(1)
	defer p.pushing.Add(-1)
	branch := "choir/" + string(p.push.Computer)
	var said words
	client, err := p.sandbox.Guest(ctx)
	code := 0
	if err == nil {
		code, err = p.git(client, path.Join(Folder, name)).runWithin(ctx, cloneLimit, &said, &said, nil,
			"push", "--quiet", "--no-verify", gate, "+"+state.Wanted+":refs/heads/"+branch)
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err == nil && code == 0 {
		_, err = p.events.Append(ctx, choir.RoleControl, choir.RepoPushed{Name: name, URL: url, Branch: branch, Commit: state.Wanted})
		return 0, err
	}
	if err != nil {
		_, _ = said.Write([]byte(err.Error()))
	}
	failed = state.Attempts + 1
	_, err = p.events.Append(ctx, choir.RoleControl, choir.RepoPushFailed{Name: name, URL: url, Commit: state.Wanted, Attempts: failed, Said: lastOf(said.String())})
	return failed, err
}

// lastOf returns the end of what git said, which says why it failed.
func lastOf(s string) string {
	const most = 1000
	if r := []rune(s); len(r) > most/2 {
		return string(r[len(r)-most/2:])
	}
	return s
}

// waitForNews waits until the log has an event after head, a push ends, or for d unless that is 0.
func (p *Projects) waitForNews(ctx context.Context, head uint64, d time.Duration, s *pusher) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	var due <-chan time.Time
	if d > 0 {
		due = p.push.After(d)
	}
	news := make(chan error, 1)
	go func() { news <- p.log.WaitPast(waiting, head) }()
	select {
	case err := <-news:
		return err
	case e := <-s.ended:
		cancel()
		<-news
		return s.recordEnd(e)
	case <-due:
		cancel()
		<-news
		return ctx.Err()
	}
}
