// Package gitgate carries the smart HTTP requests of git in a sandbox to the repositories that
// the owner named, over TLS that the control plane makes, with the credential that the sandbox
// does not have.
//
// git reaches it by a host of its own at the egress door, which is no host of any network:
// http://git.choir.internal/HOST/PATH stands for https://HOST/PATH. It runs no git and reads no
// repository; it reads the request line and the headers.
package gitgate

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
	"choiros/internal/control/vault"
	"choiros/internal/leak"
)

// Host is the name at the egress door that stands for the gateway.
const Host = "git.choir.internal"

// Repository is a repository that the owner named.
type Repository struct {
	Project    string
	Target     egress.Target // host, port and the path of the repository
	Credential string        // entry of the vault; "" for none
}

// Address returns where git inside finds the repository at an https address. Code invalid: it is
// not the address of a repository.
func Address(url string) (gate string, t egress.Target, err error) {
	t, ok := egress.ReadAddress(url)
	if !ok || strings.HasSuffix(t.Path, "/") {
		return "", t, choir.Refuse("git", choir.ReasonGitAddress, choir.TextOf("address", egress.ShownAddress(url))).At("url")
	}
	return "http://" + Host + "/" + authority(t) + t.Path, t, nil
}

// authority returns the host and the port unless that is HTTPS's own.
func authority(t egress.Target) string { return strings.TrimSuffix(t.HostPort(), ":443") }

// Gate serves the requests of a computer's sandboxes for the gateway's host.
type Gate struct {
	Computer choir.ID
	Proxy    *egress.Proxy
	Vault    *vault.Vault
	// Named returns the repositories that the owner named.
	Named func(context.Context) ([]Repository, error)
}

// Serves reports whether a request is for the gateway.
func Serves(r *http.Request) bool { return r.Method != http.MethodConnect && r.URL.Host == Host }

// ServeHTTP carries a request of git, or refuses it.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.Proxy.ServeErrand(w, r, answerPlain, func(ctx context.Context, work egress.Work) (egress.Errand, error) {
		return g.errand(ctx, r, work.Project)
	})
}

// errand returns the request for the host, of a task about a project; "" for none.
func (g *Gate) errand(ctx context.Context, r *http.Request, project string) (egress.Errand, error) {
	call, ok := readCall(r)
	if !ok {
		return egress.Errand{}, choir.Refuse("git", choir.ReasonGitNotARequest)
	}
	named, err := g.Named(ctx)
	if err != nil {
		return egress.Errand{}, err
	}
	named = slices.DeleteFunc(slices.Clone(named), func(n Repository) bool {
		return n.Target.Host != call.repo.Host || n.Target.Port != call.repo.Port || n.Target.Path != call.repo.Path
	})
	if len(named) == 0 {
		return egress.Errand{Target: call.repo}, choir.Refuse("git", choir.ReasonGitNotNamed, choir.TextOf("address", authority(call.repo)+call.repo.Path))
	}
	target := call.repo
	target.Method, target.Path = r.Method, call.repo.Path+call.service
	errand := egress.Errand{Target: target, Query: call.query, Header: outgoing(r.Header)}
	name, added, err := g.credentialOf(ctx, call, named, project)
	if err != nil {
		return errand, err
	}
	secrets := leak.New(nil)
	if name != "" {
		errand.Header.Set(added.Header, added.Value)
		errand.Credential, secrets = name, added.Secrets
	}
	errand.Answer = func(a *http.Response) error { return clean(a, secrets, authority(call.repo)+call.repo.Path) }
	return errand, nil
}

// credentialOf returns the entry of the vault for a call and the header with its key; "" for a call
// without a credential. Several projects may name the repository: the project that the task is about
// comes first, then projects with a credential, in their order, then projects without. An entry that
// was removed, or is not bound to the call, leaves the call to the next project. If it leaves it to
// none, the error is the first entry's.
func (g *Gate) credentialOf(ctx context.Context, c call, named []Repository, project string) (name string, added vault.Added, err error) {
	slices.SortStableFunc(named, func(a, b Repository) int { return rank(a, project) - rank(b, project) })
	var first error
	for _, n := range named {
		if n.Credential == "" {
			return "", vault.Added{}, nil
		}
		added, err = g.Vault.Add(ctx, n.Credential, vault.Want{
			Use: choir.VaultForGit, Computer: g.Computer, Project: n.Project, Action: c.action, Target: c.repo,
		})
		if err == nil {
			return n.Credential, added, nil
		}
		if code := choir.CodeOf(err); code != choir.CodeNotFound && code != choir.CodeRefused {
			return "", vault.Added{}, err // the vault cannot be read
		}
		if first == nil {
			first = err
		}
	}
	return "", vault.Added{}, first
}

// rank returns the place of a repository among the others of its address, for a task about a project.
func rank(n Repository, project string) int {
	switch {
	case n.Project == project:
		return 0
	case n.Credential != "":
		return 1
	}
	return 2
}

// call is one request of git's smart HTTP protocol.
type call struct {
	repo           egress.Target
	service, query string // what comes after the repository's path
	action         string // fetch or push
}

// actions names what each service does.
var actions = map[string]string{"git-upload-pack": "fetch", "git-receive-pack": "push"}

// readCall returns the call that a request is. ok is false for anything that is not exactly one
// of the three kinds.
func readCall(r *http.Request) (c call, ok bool) {
	u := r.URL
	if u.Scheme != "http" || u.User != nil || u.Opaque != "" || u.Host != r.Host || !egress.CleanPath(u.EscapedPath()) {
		return c, false
	}
	rest := strings.TrimPrefix(u.EscapedPath(), "/")
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return c, false
	}
	path, service := rest[slash:], ""
	switch r.Method {
	case http.MethodGet:
		path, ok = strings.CutSuffix(path, "/info/refs")
		service, _ = strings.CutPrefix(u.RawQuery, "service=")
		c.service, c.query = "/info/refs", u.RawQuery
		if u.RawQuery != "service="+service || r.ContentLength != 0 {
			return c, false
		}
	case http.MethodPost:
		last := strings.LastIndexByte(path, '/')
		path, service = path[:last], path[last+1:]
		c.service, ok = "/"+service, u.RawQuery == "" && r.Header.Get("Content-Type") == "application/x-"+service+"-request"
	}
	c.action = actions[service]
	if !ok || c.action == "" || path == "" {
		return c, false
	}
	c.repo, ok = egress.ReadTarget(rest[:slash], path)
	return c, ok
}

// sent and returned are the headers that go on; nothing else of git's requests and of their
// answers is needed, and a cookie of the host could be worth as much as the credential.
var (
	sent     = []string{"Accept", "Accept-Language", "Content-Type", "Content-Encoding", "Git-Protocol", "User-Agent"}
	returned = []string{"Content-Type", "Content-Length", "Cache-Control", "Expires", "Pragma", "Date", "Retry-After"}
)

// outgoing returns the headers of git that go to the host.
func outgoing(h http.Header) http.Header {
	out := http.Header{"User-Agent": nil}
	for _, name := range sent {
		if values := h[name]; len(values) > 0 {
			out[name] = values
		}
	}
	return out
}

// clean takes from an answer what the sandbox does not need, and the secrets wherever the host
// echoes them. Code refused: the repository has moved, or the answer cannot be looked at.
func clean(a *http.Response, secrets *leak.Secrets, address string) error {
	if a.StatusCode == http.StatusUnauthorized {
		return choir.Refuse("git", choir.ReasonGitUnauthorized, choir.TextOf("address", address))
	}
	if a.StatusCode >= 300 && a.StatusCode < 400 {
		return choir.Refuse("git", choir.ReasonGitMoved, choir.TextOf("address", address))
	}
	if egress.Encoded(a.Header) {
		return choir.Refuse("git", choir.ReasonGitEncoded, choir.TextOf("address", address))
	}
	kept := http.Header{}
	for _, name := range returned {
		if values := a.Header[name]; len(values) > 0 && !slices.ContainsFunc(values, secrets.In) {
			kept[name] = values
		}
	}
	a.Header, a.Body = kept, stream{secrets.Reader(a.Body), a.Body}
	return nil
}

// stream is a body without the secrets.
type stream struct {
	io.Reader
	io.Closer
}

// answerPlain tells an error as git shows it to people, who see nothing of other answers.
func answerPlain(w http.ResponseWriter, err error) {
	problem := choir.ProblemOf(err)
	text := "choir: " + problem.Message
	if problem.Remedy != "" {
		text += " (" + problem.Remedy + ")"
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(choir.CodeOf(err).HTTPStatus())
	_, _ = io.WriteString(w, text+"\n") // a client that went away does not need it
}
