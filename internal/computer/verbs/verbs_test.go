package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/blob/mem"
	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// lab is the verbs of a computer whose parts note what they are asked.
type lab struct {
	*Verbs
	t      *testing.T
	parts  *stubParts
	blobs  *mem.Store
	logged bytes.Buffer
	// answered are the verbs that the observer was told of, with their codes.
	answered []string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{t: t, parts: &stubParts{}, blobs: mem.New(mem.Config{})}
	l.Verbs = New("computer", Parts{
		Log: l.parts, Blobs: l.blobs, Content: l.parts, Desk: l.parts, Runs: l.parts, Facts: stubFacts{l.parts}, Roles: l.parts, Tasks: l.parts, Steering: l.parts, Effects: l.parts,
	}, l, slog.New(slog.NewTextHandler(&l.logged, nil)))
	return l
}

// Answered implements Observer.
func (l *lab) Answered(verb choir.Verb, _ time.Duration, err error) {
	l.answered = append(l.answered, string(verb)+" "+string(choir.CodeOf(err)))
}

// ask asks for a verb as a role does. It returns the reply as JSON.
func (l *lab) ask(role choir.Role, verb choir.Verb, body string) (string, error) {
	l.t.Helper()
	reply, err := l.Handle(l.t.Context(), choir.Caller{Role: role, Connection: "c"}, verb, []byte(body))
	raw, encodeErr := json.Marshal(reply)
	if encodeErr != nil {
		l.t.Fatal(encodeErr)
	}
	return string(raw), err
}

// stubParts are the parts of a computer. They fail with err when it is not nil.
type stubParts struct {
	asked  []string
	events []choir.Event // the log; one event when nil
	owner  []string      // of the answer of Compare
	err    error
}

func (s *stubParts) note(format string, args ...any) error {
	s.asked = append(s.asked, fmt.Sprintf(format, args...))
	return s.err
}

func (s *stubParts) Head() (uint64, choir.Digest) { return 7, "" }

func (s *stubParts) EventsAfter(_ context.Context, seq uint64, limit int) ([]choir.Event, error) {
	var page []choir.Event
	log := s.events
	if log == nil {
		log = []choir.Event{{Seq: 3}}
	}
	for _, e := range log {
		if e.Seq > seq && len(page) < limit {
			page = append(page, e)
		}
	}
	return page, s.note("events %d %d", seq, limit)
}

func (s *stubParts) Put(_ context.Context, who choir.Caller, r choir.BlobPutRequest) (choir.BlobPutReply, error) {
	return choir.BlobPutReply{}, s.note("put %s %d", who.Connection, r.Size)
}

func (s *stubParts) Get(_ context.Context, r choir.BlobGetRequest) (choir.BlobGetReply, error) {
	return choir.BlobGetReply{}, s.note("get %d", r.Offset)
}

func (s *stubParts) Append(_ context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	return []choir.Receipt{}, s.note("append %s %d", role, len(drafts))
}

func (s *stubParts) Read(_ context.Context, run choir.ID) (choir.RunReadReply, error) {
	return choir.RunReadReply{}, s.note("read %s", run)
}

// stubFacts is the part whose method has the name of another part's.
type stubFacts struct{ *stubParts }

func (s stubFacts) Read(_ context.Context, run choir.ID) (choir.FactsReadReply, error) {
	return choir.FactsReadReply{}, s.note("facts %s", run)
}

func (s stubFacts) LookAtWorkspace(_ context.Context, r choir.LookRequest) (choir.LookReply, error) {
	return choir.LookReply{}, s.note("look %s %s %s", r.Run, r.What, r.Path)
}

func (s *stubParts) Hello(_ context.Context, key string) error { return s.note("hello %s", key) }

func (s *stubParts) StartCopied(_ context.Context, task choir.ID) (choir.TaskBeginReply, error) {
	return choir.TaskBeginReply{}, s.note("begin copied %s", task)
}

func (s *stubParts) StartUncopied(_ context.Context, task choir.ID) (choir.TaskBeginReply, error) {
	return choir.TaskBeginReply{}, s.note("begin uncopied %s", task)
}

func (s *stubParts) LandCommitted(_ context.Context, task choir.ID) (choir.TaskLandReply, error) {
	return choir.TaskLandReply{}, s.note("land committed %s", task)
}

func (s *stubParts) Land(_ context.Context, task choir.ID, leave []string) (choir.TaskLandReply, error) {
	return choir.TaskLandReply{}, s.note("land %s %s", task, leave)
}

func (s *stubParts) Start(_ context.Context, task choir.ID, since choir.Digest) (choir.TaskBeginReply, error) {
	return choir.TaskBeginReply{}, s.note("start %s %.4s", task, since)
}

func (s *stubParts) RecordAround(_ context.Context, drafts []choir.Draft) error {
	return s.note("around %d", len(drafts))
}

func (s *stubParts) Compare(_ context.Context, task choir.ID) (choir.TaskTreeReply, error) {
	return choir.TaskTreeReply{Snapshot: choir.ZeroHash, Owner: s.owner}, s.note("compare %s", task)
}

func (s *stubParts) Commit(_ context.Context, task choir.ID, reason string, only []string) (choir.TaskCommitReply, error) {
	return choir.TaskCommitReply{}, s.note("commit %s %s %s", task, reason, only)
}

func (s *stubParts) CommitCommand(_ context.Context, task choir.ID) (choir.TaskCommitReply, error) {
	return choir.TaskCommitReply{}, s.note("command %s", task)
}

func (s *stubParts) Rollback(_ context.Context, task choir.ID, keep []string) (choir.TaskRollbackReply, error) {
	return choir.TaskRollbackReply{}, s.note("rollback %s %s", task, keep)
}

func (s *stubParts) RestoreAttempt(_ context.Context, task choir.ID) (choir.TaskAttemptReply, error) {
	return choir.TaskAttemptReply{}, s.note("attempt %s", task)
}

func (s *stubParts) Hold(_ context.Context, drafts []choir.Draft) error {
	return s.note("hold %d", len(drafts))
}

func (s *stubParts) RecordSteering(_ context.Context, task choir.ID, call int) (choir.TaskSteeringReply, error) {
	return choir.TaskSteeringReply{}, s.note("steering %s %d", task, call)
}

func (s *stubParts) ShowCommand(_ context.Context, r choir.TaskOutputRequest) (choir.TaskOutputReply, error) {
	return choir.TaskOutputReply{}, s.note("show %s %d %s", r.Task, r.Call, r.Chunk)
}

// id is a valid one.
var id = choir.DeriveID("", "x")

func TestEveryVerbIsAnsweredByItsPart(t *testing.T) {
	digest := string(choir.ZeroHash)
	asked := map[choir.Verb]bool{}
	for _, c := range []struct {
		verb choir.Verb
		body string
		want []string
	}{
		{choir.VerbEventsAfter, `{"seq":2,"limit":5}`, []string{"events 2 5"}},
		{choir.VerbEventsAfter, `{"seq":2}`, []string{fmt.Sprint("events 2 ", choir.MaxEventsAfter)}},
		{choir.VerbTasksAfter, `{"seq":2}`, []string{fmt.Sprint("events 2 ", choir.MaxEventsAfter), fmt.Sprint("events 3 ", choir.MaxEventsAfter)}},
		{choir.VerbRunRead, `{"run":"ID"}`, []string{"read ID"}},
		{choir.VerbFactsRead, `{"run":"ID"}`, []string{"facts ID"}},
		{choir.VerbLook, `{"run":"ID","what":"list","path":"a"}`, []string{"look ID list a"}},
		{choir.VerbBlobPut, `{"digest":"` + digest + `","size":1,"offset":0,"chunk":"eA=="}`, []string{"put c 1"}},
		{choir.VerbBlobGet, `{"digest":"` + digest + `","offset":4}`, []string{"get 4"}},
		{choir.VerbHello, `{"public_key":"KEY"}`, []string{"hello KEY"}},
		{choir.VerbTaskBegin, `{"task":"ID","since":"` + digest + `"}`, []string{"start ID 0000"}},
		{choir.VerbTaskTree, `{"task":"ID"}`, []string{"compare ID"}},
		{choir.VerbTaskRollback, `{"task":"ID","keep":["a"]}`, []string{"rollback ID [a]"}},
		{choir.VerbTaskAttempt, `{"task":"ID"}`, []string{"attempt ID"}},
		{choir.VerbTaskBegin, `{"task":"ID","uncopied":true}`, []string{"begin uncopied ID"}},
		{choir.VerbTaskLand, `{"task":"ID","leave":["a"]}`, []string{"land ID [a]"}},
		{choir.VerbTaskLand, `{"task":"ID","committed":true}`, []string{"land committed ID"}},
		{choir.VerbTaskBegin, `{"task":"ID","copied":true}`, []string{"begin copied ID"}},
		{choir.VerbTaskSteering, `{"task":"ID","call":2}`, []string{"steering ID 2"}},
		{choir.VerbTaskOutput, `{"task":"ID","call":2,"command":"make","started":"2026-11-21T02:28:00.000Z","from":0,"chunk":"eA=="}`, []string{"show ID 2 x"}},
		{choir.VerbTaskCommit, `{"task":"ID","reason":"checkpoint","only":["a"]}`, []string{"commit ID checkpoint [a]"}},
		{choir.VerbTaskCommit, `{"task":"ID","reason":"tool_returned"}`, []string{"command ID"}},
		{choir.VerbAppend, `{"drafts":[DRAFT]}`, []string{"around 1", "hold 1", "append associate 1"}},
	} {
		asked[c.verb] = true
		t.Run(string(c.verb), func(t *testing.T) {
			l := newLab(t)
			fill := strings.NewReplacer("ID", string(id), "KEY", strings.Repeat("A", 43)+"=", "DRAFT", draft(t))
			if _, err := l.ask(choir.RoleAssociate, c.verb, fill.Replace(c.body)); err != nil {
				t.Fatal(err)
			}
			for i := range c.want {
				c.want[i] = fill.Replace(c.want[i])
			}
			if !slices.Equal(l.parts.asked, c.want) || !slices.Equal(l.answered, []string{string(c.verb) + " "}) {
				t.Errorf("asked was %q, want %q; the observer was told %q", l.parts.asked, c.want, l.answered)
			}
		})
	}
	for _, v := range choir.Verbs() {
		if !asked[v.Verb] {
			t.Errorf("nobody asks for %s here", v.Verb)
		}
	}
}

// TestTheAssociateReadsItsTasksAndNothingElse reads a log with events of each type.
func TestTheAssociateReadsItsTasksAndNothingElse(t *testing.T) {
	l := newLab(t)
	for i, info := range choir.Types() {
		l.parts.events = append(l.parts.events, choir.Event{Seq: uint64(i + 1), Type: info.Type, Payload: []byte("{}")})
	}
	reply, err := l.ask(choir.RoleAssociate, choir.VerbTasksAfter, `{"seq":0}`)
	var page choir.TasksAfterReply
	if err == nil {
		err = json.Unmarshal([]byte(reply), &page)
	}
	var got []choir.Type
	for _, e := range page.Events {
		got = append(got, e.Type)
	}
	want := []choir.Type{choir.TypeRunPaused, choir.TypeRunResumed, choir.TypeTaskDispatched, choir.TypeTaskCancelRequested, choir.TypeCommandEndRequested, choir.TypeTaskReturned}
	if err != nil || !slices.Equal(got, want) || page.Next < 7 {
		t.Errorf("%v: the Associate reads %v, up to %d", err, got, page.Next)
	}
}

// TestAPageOfTasksFitsIntoAMessage has tasks of 200 KiB each.
func TestAPageOfTasksFitsIntoAMessage(t *testing.T) {
	l := newLab(t)
	large := []byte(`"` + strings.Repeat("x", 200<<10) + `"`)
	for seq := range uint64(7) {
		l.parts.events = append(l.parts.events, choir.Event{Seq: seq + 1, Type: choir.TypeTaskDispatched, Payload: large})
	}
	for seq, pages := uint64(0), 0; seq < 7; pages++ {
		var page choir.TasksAfterReply
		reply, err := l.ask(choir.RoleAssociate, choir.VerbTasksAfter, fmt.Sprintf(`{"seq":%d}`, seq))
		if err == nil {
			err = json.Unmarshal([]byte(reply), &page)
		}
		if err != nil || len(page.Events) == 0 || page.Events[0].Seq != seq+1 || page.Next != page.Events[len(page.Events)-1].Seq || len(reply) > bus.MaxPayload || pages > 7 {
			t.Fatalf("after %d: %d events of %d bytes, next %d: %v", seq, len(page.Events), len(reply), page.Next, err)
		}
		seq = page.Next
	}
}

// draft is the JSON of one.
func draft(t *testing.T) string {
	t.Helper()
	d, err := choir.NewDraft(id, choir.TaskProgressed{Kind: "progress", Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(d.ForRun(id, id))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestOnlyAnAssociatesAppendIsLookedAround(t *testing.T) {
	l := newLab(t)
	if _, err := l.ask(choir.RoleDirector, choir.VerbAppend, `{"drafts":[`+draft(t)+`]}`); err != nil {
		t.Fatal(err)
	}
	if want := []string{"append director 1"}; !slices.Equal(l.parts.asked, want) {
		t.Errorf("asked was %q, want %q", l.parts.asked, want)
	}
}

// TestNothingIsAppendedAroundACallThatCannotBeRecorded has the disk full.
func TestNothingIsAppendedAroundACallThatCannotBeRecorded(t *testing.T) {
	l := newLab(t)
	l.parts.err = choir.E("x", choir.CodeNoSpace, "the disk is full")
	if _, err := l.ask(choir.RoleAssociate, choir.VerbAppend, `{"drafts":[`+draft(t)+`]}`); choir.CodeOf(err) != choir.CodeNoSpace {
		t.Error(err)
	}
	if want := []string{"around 1"}; !slices.Equal(l.parts.asked, want) {
		t.Errorf("asked was %q, want %q", l.parts.asked, want)
	}
}

func TestABodyThatIsNotTheVerbsIsRefused(t *testing.T) {
	l := newLab(t)
	for verb, body := range map[choir.Verb]string{
		choir.VerbTaskTree: `{"task":"` + string(id) + `","more":1}`, choir.VerbTaskBegin: `{}`, choir.VerbHello: `[]`,
	} {
		if _, err := l.ask(choir.RoleAssociate, verb, body); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if _, err := l.ask(choir.RoleAssociate, "reboot", `{}`); choir.CodeOf(err) != choir.CodeNotFound {
		t.Error(err)
	}
	if len(l.parts.asked) > 0 {
		t.Errorf("asked was %q", l.parts.asked)
	}
}

// TestBodiesThatFitNoMessageAreInTheBlobStore sends and is answered one that a message
// cannot have.
func TestBodiesThatFitNoMessageAreInTheBlobStore(t *testing.T) {
	l := newLab(t)
	keep := strings.Repeat("k", 1000)
	at, _, err := l.blobs.Put(t.Context(), strings.NewReader(`{"task":"`+string(id)+`","keep":["`+keep+`"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.ask(choir.RoleAssociate, choir.VerbTaskRollback, `{"large":"`+string(at)+`"}`); err != nil {
		t.Fatal(err)
	}
	if want := []string{"rollback " + string(id) + " [" + keep + "]"}; !slices.Equal(l.parts.asked, want) {
		t.Errorf("asked was %.100q", l.parts.asked)
	}
	l.parts.owner = []string{strings.Repeat("p", choir.LargeBody)}
	reply, err := l.Handle(t.Context(), choir.Caller{Role: choir.RoleAssociate}, choir.VerbTaskTree, []byte(`{"task":"`+string(id)+`"}`))
	large, ok := reply.(bus.Large)
	if err != nil || !ok {
		t.Fatalf("%T, %v", reply, err)
	}
	if size, err := l.blobs.Size(t.Context(), choir.Digest(large)); err != nil || size < choir.LargeBody {
		t.Errorf("%d bytes, %v", size, err)
	}
}

// TestARoleAsksAgainUntilTheClusterIsBack has the log acknowledge nothing.
func TestARoleAsksAgainUntilTheClusterIsBack(t *testing.T) {
	l := newLab(t)
	l.parts.err = &choir.Error{Op: "x", Code: choir.CodeUnavailable, Err: fmt.Errorf("%w: nobody answers", eventstore.ErrNotReplicated)}
	if _, err := l.ask(choir.RoleDirector, choir.VerbAppend, `{"drafts":[`+draft(t)+`]}`); choir.CodeOf(err) != choir.CodeBusy {
		t.Error(err)
	}
}

func TestTheCauseOfAnInternalErrorIsLogged(t *testing.T) {
	l := newLab(t)
	l.parts.err = errors.New("row 7 is gone")
	_, err := l.ask(choir.RoleAssociate, choir.VerbRunRead, `{"run":"`+string(id)+`"}`)
	if choir.ProblemOf(err).Code != choir.CodeInternal || !strings.Contains(l.logged.String(), "row 7 is gone") {
		t.Errorf("%v; logged is %q", err, l.logged.String())
	}
}
