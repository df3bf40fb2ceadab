package hub_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// TestEveryRoleSubjectAndDirection tries every line of the table with a real
// client in every role, for two users at once, as itself and as somebody else.
func TestEveryRoleSubjectAndDirection(t *testing.T) {
	t.Parallel()
	tableIsComplete(t)
	s := bustest.Start(t)
	homes := [2]bustest.Home{bustest.NewHome(t), bustest.NewHome(t)}
	bystander := connect(t, s, choir.RoleShell, homes[1])
	var trials []*trial
	for i, home := range homes {
		for _, role := range choir.Roles() {
			tr := &trial{t: t, home: home, other: homes[1-i], role: role, bystander: bystander.Opts.InboxPrefix}
			tr.nc = connect(t, s, role, home, nats.ErrorHandler(tr.note))
			trials = append(trials, tr)
		}
	}
	for _, tr := range trials {
		tr.subscribeAll()
	}
	checkPublishing(t, s, trials)
	checkSubscribing(t, s, trials)
}

func tableIsComplete(t *testing.T) {
	t.Helper()
	for _, s := range choir.Subjects() {
		if _, ok := permitted[s.Pattern]; !ok {
			t.Errorf("%s has no case: add what CONTRACTS.md permits to the table of this test", s.Pattern)
		}
	}
	for _, v := range choir.Verbs() {
		if _, ok := permittedVerbs[v.Verb]; !ok {
			t.Errorf("verb %s has no case: add who may ask for it to the table of this test", v.Verb)
		}
	}
	if len(choir.Subjects()) != len(permitted) || len(choir.Verbs()) != len(permittedVerbs) {
		t.Errorf("the tables of this test have lines that the vocabulary has not")
	}
}

// attempt is one subject one role tries, and whether it must succeed.
type attempt struct {
	subject string
	want    bool
}

// trial is one connection and what it tries.
type trial struct {
	t           *testing.T
	home, other bustest.Home
	role        choir.Role
	bystander   string // somebody else's inbox prefix
	nc          *nats.Conn
	subs        map[string]*nats.Subscription
	wanted      map[string]bool // by subject subscribed to

	mu      sync.Mutex
	refused []string
}

func (tr *trial) note(_ *nats.Conn, _ *nats.Subscription, err error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.refused = append(tr.refused, err.Error())
}

func (tr *trial) wasRefused(direction, subject string) bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.ContainsFunc(tr.refused, func(s string) bool { return strings.Contains(s, direction+` to "`+subject+`"`) })
}

func may(list string, role choir.Role) bool {
	return slices.Contains(strings.Fields(list), string(role))
}

// attempts fills a pattern in with every home, role, verb and connection.
func (tr *trial) attempts(publish bool) []attempt {
	var out []attempt
	for pattern, want := range permitted {
		list := want.subscribe
		if publish {
			list = want.publish
		}
		for _, home := range tr.homes() {
			for _, role := range named(pattern, "<role>", "director", "associate", "shell") {
				for _, verb := range tr.verbs(pattern) {
					for _, connection := range named(pattern, "<connection>", tr.nc.Opts.Name, "somebodyelse") {
						out = append(out, attempt{
							subject: strings.NewReplacer("<uid>", string(home.User), "<cid>", string(home.Computer), "<role>", role,
								"<verb>", verb, "<connection>", connection, "<run>", string(tr.home.User), "<class>", "parse",
								"<type>", "prompt.submitted").Replace(pattern),
							want: may(list, tr.role) && tr.owns(pattern, home) && tr.is(pattern, publish, role, verb, connection),
						})
					}
				}
			}
		}
	}
	for pattern, want := range permittedBeside {
		list := want.subscribe
		if publish {
			list = want.publish
		}
		subject := strings.NewReplacer("<inbox>", tr.nc.Opts.InboxPrefix, "<other>", tr.bystander).Replace(pattern)
		out = append(out, attempt{subject, may(list, tr.role)})
	}
	return out
}

// homes are the own one, another user's, the own user's other computer, and
// another user with the own computer.
func (tr *trial) homes() []bustest.Home {
	return []bustest.Home{tr.home, tr.other, {User: tr.home.User, Computer: tr.other.Computer}, {User: tr.other.User, Computer: tr.home.Computer}}
}

func (tr *trial) owns(pattern string, home bustest.Home) bool {
	return (!strings.Contains(pattern, "<uid>") || home.User == tr.home.User) &&
		(!strings.Contains(pattern, "<cid>") || home.Computer == tr.home.Computer)
}

func (tr *trial) verbs(pattern string) []string {
	verbs := []string{"drop-tables"}
	for v := range permittedVerbs {
		verbs = append(verbs, string(v))
	}
	return named(pattern, "<verb>", verbs...)
}

// is reports whether a role may name itself so: workers stream and ask as
// themselves; control speaks to and hears all.
func (tr *trial) is(pattern string, publish bool, role, verb, connection string) bool {
	own := role == string(tr.role)
	switch root, _, _ := strings.Cut(pattern, "."); {
	case root == "live" && publish:
		return own
	case root == "cmd" && publish:
		return own && connection == tr.nc.Opts.Name && may(permittedVerbs[choir.Verb(verb)], tr.role)
	}
	return true
}

// named are the values of a placeholder, or one nothing when it is not there.
func named(pattern, placeholder string, values ...string) []string {
	if strings.Contains(pattern, placeholder) {
		return values
	}
	return []string{""}
}

// checkPublishing lets every connection publish everything, and an onlooker
// that hears all says what came through.
func checkPublishing(t *testing.T, s *hub.Server, trials []*trial) {
	onlooker, err := s.Unbound()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(onlooker.Close)
	all, err := onlooker.SubscribeSync(">")
	if err != nil {
		t.Fatal(err)
	}
	flush(t, onlooker)
	wants := map[string]bool{} // what must come through, by "connection subject"
	for _, tr := range trials {
		for _, a := range tr.attempts(true) {
			key := tr.nc.Opts.Name + " " + a.subject
			wants[key] = a.want
			if err := tr.nc.Publish(a.subject, []byte("trial "+key)); err != nil {
				t.Fatal(err)
			}
		}
		flush(t, tr.nc)
	}
	flush(t, onlooker)
	heard := map[string]bool{}
	for n, _, _ := all.Pending(); n > 0; n-- {
		m, err := all.NextMsg(bustest.Patience)
		if err != nil {
			t.Fatal(err)
		}
		if key, ok := strings.CutPrefix(string(m.Data), "trial "); ok {
			heard[key] = true
		}
	}
	tried := map[bool]int{}
	for _, tr := range trials {
		for _, a := range tr.attempts(true) {
			key := tr.nc.Opts.Name + " " + a.subject
			tried[a.want]++
			if refused := tr.wasRefused("Publish", a.subject); refused == a.want || heard[key] && !a.want {
				t.Errorf("%s publishes %s: refused %t, came through %t, permitted %t", tr.role, a.subject, refused, heard[key], a.want)
			}
			if a.want && !heard[key] && !strings.HasPrefix(a.subject, "$JS.") {
				t.Errorf("%s publishes %s: permitted, but nobody heard it", tr.role, a.subject)
			}
		}
	}
	if tried[true] < 50 || tried[false] < 500 {
		t.Errorf("only %d permitted and %d forbidden subjects were tried", tried[true], tried[false])
	}
}

func (tr *trial) subscribeAll() {
	tr.t.Helper()
	tr.subs, tr.wanted = map[string]*nats.Subscription{}, map[string]bool{}
	for _, a := range tr.attempts(false) {
		// The verbs make no difference to who hears commands; the server limits subscriptions.
		if strings.HasPrefix(a.subject, "cmd.") && !strings.Contains(a.subject, ".append.") {
			continue
		}
		tr.wanted[a.subject] = a.want
	}
	for _, w := range wildcards {
		tr.wanted[w] = false
	}
	for subject := range tr.wanted {
		sub, err := tr.nc.SubscribeSync(subject)
		if err != nil {
			tr.t.Fatal(err)
		}
		tr.subs[subject] = sub
	}
	flush(tr.t, tr.nc)
}

// checkSubscribing lets a speaker that may say everything publish each concrete
// subject, and looks at who heard what.
func checkSubscribing(t *testing.T, s *hub.Server, trials []*trial) {
	speaker, err := s.Unbound()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(speaker.Close)
	said := map[string]bool{}
	for _, tr := range trials {
		for subject := range tr.wanted {
			if said[subject] || slices.Contains(wildcards, subject) {
				continue
			}
			said[subject] = true
			if err := speaker.Publish(subject, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	flush(t, speaker)
	for _, tr := range trials {
		flush(t, tr.nc)
		for subject, want := range tr.wanted {
			n, _, _ := tr.subs[subject].Pending()
			if refused := tr.wasRefused("Subscription", subject); (n > 0) != want || refused == want {
				t.Errorf("%s subscribes to %s: refused %t, heard %d, permitted %t", tr.role, subject, refused, n, want)
			}
		}
	}
}
