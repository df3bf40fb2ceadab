package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// step is one thing that a user does.
type step struct {
	Verb string `json:"verb"`
	Key  string `json:"key"`
}

// reply is choir's answer to a step.
type reply struct {
	step
	Seq    uint64 `json:"seq,omitempty"`
	Hash   string `json:"hash,omitempty"`
	Task   string `json:"task,omitempty"`
	Status string `json:"status,omitempty"`
	Commit string `json:"commit,omitempty"`
	Forked string `json:"forked,omitempty"` // the new computer
	Undone string `json:"undone,omitempty"` // the task that was taken back
	Mark   string `json:"mark,omitempty"`   // what the event of this number says, and no other
}

// verbs are what a driver can do: to add one is to add a line.
var verbs = map[string]func(context.Context, *socket, string) (reply, error){
	"prompt":     prompt,
	"task":       edit,
	"beside":     editBeside,
	"again":      edit, // a task that comes a second time
	"look":       runLookTask,
	"checkpoint": checkpoint,
	"rewind":     rewind,
	"fork":       fork,
	"undo":       undo,
	"export":     export,
	"import":     importAgain,
	"collect":    collect,
	"files":      files,
	"project":    project,
	"crowd":      crowd,
	"attributes": attributes,
	"thousands":  thousands,
	"demo":       demo,
	"verify":     verify,
	"add":        add,
	"note":       note,
	"document":   document,
	"desk":       desk,
}

// patience is how long a step is tried again.
const patience = limit - 20*time.Second

// driving is one run of a driver.
type driving struct {
	data, seed string
	during     string // a file; threads that begin with ~ repeat their steps while it is there

	out    *json.Encoder
	mu     sync.Mutex // guards out and failed
	failed error
}

// drive does steps, one after the other in each of its threads, and says every
// reply on its standard output. A step that got none is tried again with the
// same key. A thread that begins with ~ begins anew as long as -while is there.
func drive(ctx context.Context, args []string) error {
	d := driving{out: json.NewEncoder(os.Stdout)}
	flags := flag.NewFlagSet("drive", flag.ContinueOnError)
	flags.StringVar(&d.data, "data", "", "data folder")
	flags.StringVar(&d.seed, "seed", "", "makes keys")
	flags.StringVar(&d.during, "while", "", "file during which threads that begin with ~ go on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var group sync.WaitGroup
	for i, thread := range flags.Args() {
		group.Go(func() { d.thread(ctx, i, thread) })
	}
	group.Wait()
	return d.failed
}

func (d *driving) thread(ctx context.Context, i int, thread string) {
	s := newSocket(d.data)
	steps, repeated := strings.CutPrefix(thread, "~")
	words := strings.Split(steps, ",")
	for n := 0; repeated && d.goesOn() || n < len(words); n++ {
		verb, key := words[n%len(words)], fmt.Sprintf("%s-%d-%d", d.seed, i, n)
		if verb == "again" || verb == "undo" {
			key = fmt.Sprintf("%s-%d-%d", d.seed, i, n-1)
		}
		r, err := act(ctx, s, verb, key)
		if d.say(r, err) != nil && (repeated || corrupt(err)) {
			return // what follows would wait in vain as long
		}
	}
}

func (d *driving) goesOn() bool {
	_, err := os.Stat(d.during)
	return err == nil
}

func (d *driving) say(r reply, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		err = d.out.Encode(r)
	}
	if err != nil {
		d.failed = errors.Join(d.failed, fmt.Errorf("%s %s: %w", r.Verb, r.Key, err))
	}
	return err
}

func act(ctx context.Context, s *socket, verb, key string) (r reply, err error) {
	do, ok := verbs[verb]
	if !ok {
		return r, fmt.Errorf("what is %q?", verb)
	}
	err = again(ctx, patience, func(ctx context.Context) (err error) {
		r, err = do(ctx, s, key)
		return err
	})
	r.step = step{verb, key}
	return r, err
}

func prompt(ctx context.Context, s *socket, key string) (reply, error) {
	var r struct {
		Seq uint64 `json:"seq"`
	}
	err := s.call(ctx, "POST", "/prompts", key, map[string]string{"text": "prompt " + key + " " + strings.Repeat("x", 500)}, &r)
	return reply{Seq: r.Seq, Mark: "prompt " + key + " "}, err
}

// taskID is a UUIDv7 that follows from a key.
func taskID(key string) string {
	h := sha256.Sum256([]byte(key))
	h[0], h[1], h[6], h[8] = 1, 0xa0, 0x70|h[6]&15, 0x80|h[8]&63
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

type command1 struct {
	Shell string `json:"shell"`
}

type profile struct {
	Mode string `json:"mode"`
}

type task struct {
	ID          string     `json:"task_id"`
	Kind        string     `json:"kind"`
	Repo        string     `json:"repo"`
	Instruction string     `json:"instruction"`
	Commands    []command1 `json:"commands"`
	Verify      profile    `json:"verify_profile"`
}

func edit(ctx context.Context, s *socket, key string) (reply, error) {
	return submit(ctx, s, editing(key, "echo "+key+" >> lines.txt && echo "+key+" > new-"+key))
}

func editing(key, shell string) task {
	return task{
		ID: taskID(key), Kind: "edit_repo", Repo: "work", Instruction: "Add a line.", Verify: profile{"none"},
		Commands: []command1{{shell}},
	}
}

// runLookTask submits a task without changes to keep, which changes files all the same.
func runLookTask(ctx context.Context, s *socket, key string) (reply, error) {
	return submit(ctx, s, task{
		ID: taskID(key), Kind: "run", Repo: "work", Instruction: "Look.", Verify: profile{"none"},
		Commands: []command1{{"echo gone > lines.txt; rm -f new-*; mkdir deep; echo x > deep/x"}},
	})
}

func submit(ctx context.Context, s *socket, t task) (reply, error) {
	var accepted struct {
		Seq uint64 `json:"seq"`
	}
	if err := s.call(ctx, "POST", "/tasks", "", t, &accepted); err != nil {
		return reply{}, err
	}
	r := reply{Seq: accepted.Seq, Task: t.ID}
	for {
		var state struct {
			Result *struct {
				Status     string  `json:"status"`
				Checkpoint *string `json:"checkpoint"`
			} `json:"result"`
		}
		if err := s.call(ctx, "GET", "/tasks/"+t.ID, "", nil, &state); err != nil {
			return r, err
		}
		if state.Result != nil {
			r.Status = state.Result.Status
			if state.Result.Checkpoint != nil {
				r.Commit = *state.Result.Checkpoint
			}
			return r, nil
		}
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func checkpoint(ctx context.Context, s *socket, key string) (reply, error) {
	var r struct {
		Task   string `json:"task_id"`
		Status string `json:"status"`
	}
	err := s.call(ctx, "POST", "/checkpoints", key, map[string]string{"subject": "checkpoint " + key}, &r)
	return reply{Task: r.Task, Status: r.Status}, err
}

// rewind goes back by a few events, and forward again: what it took is put back.
func rewind(ctx context.Context, s *socket, key string) (reply, error) {
	var page struct {
		Head uint64 `json:"head"`
	}
	if err := s.call(ctx, "GET", "/events?limit=1", "", nil, &page); err != nil {
		return reply{}, err
	}
	_, err := rewindTo(ctx, s, key+"-back", page.Head/2)
	if err != nil {
		return reply{}, err
	}
	seq, err := rewindTo(ctx, s, key+"-forth", page.Head)
	return reply{Seq: seq}, err
}

// rewindTo goes back to one event and waits for the end of it.
func rewindTo(ctx context.Context, s *socket, key string, to uint64) (uint64, error) {
	type done struct {
		Seq     uint64 `json:"seq"`
		Pending bool   `json:"pending"`
	}
	var r done
	if err := s.call(ctx, "POST", "/rewind", key, map[string]uint64{"to_seq": to}, &r); err != nil || !r.Pending {
		return r.Seq, err
	}
	for {
		var state struct {
			Done   *done `json:"done"`
			Failed *struct {
				Message string `json:"message"`
			} `json:"failed"`
		}
		if err := s.call(ctx, "GET", "/rewind", "", nil, &state); err != nil {
			return 0, err
		}
		switch {
		case state.Failed != nil:
			return 0, errors.New(state.Failed.Message)
		case state.Done != nil:
			return state.Done.Seq, nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// fork makes a second computer of now.
func fork(ctx context.Context, s *socket, key string) (reply, error) {
	var r struct {
		ID string `json:"id"`
	}
	err := s.call(ctx, "POST", "/fork", key, map[string]string{"name": "fork " + key}, &r)
	var no *refusal
	if errors.As(err, &no) && no.Status == http.StatusConflict {
		return reply{}, nil // the answer to the first try was lost
	}
	if err == nil {
		s.furnished(ctx, r.ID)
	}
	return reply{Forked: r.ID}, err
}

// demo plays the recorded run to its end.
func demo(ctx context.Context, s *socket, key string) (reply, error) {
	var started struct {
		Run string `json:"run"`
	}
	if err := s.call(ctx, "POST", "/demo", key, struct{}{}, &started); err != nil {
		return reply{}, errors.Join(err, s.makeWay(ctx, err))
	}
	for {
		var run struct {
			State string `json:"state"`
		}
		if err := s.call(ctx, "GET", "/runs/"+started.Run, "", nil, &run); err != nil {
			return reply{}, err
		}
		if run.State == "done" || run.State == "failed" || run.State == "cancelled" {
			return reply{Status: run.State}, nil
		}
		select {
		case <-ctx.Done():
			return reply{}, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// makeWay moves away what a choir that was killed while it brought the demo's project
// left of it, when that is why the demo was refused: nobody knows whose it is.
func (s *socket) makeWay(ctx context.Context, why error) error {
	var no *refusal
	if !errors.As(why, &no) || !strings.Contains(no.Detail, "would be replaced") {
		return nil
	}
	type item struct {
		From string `json:"from"`
		To   string `json:"to"`
		If   string `json:"if_match"`
	}
	to := fmt.Sprintf("workspace/tally-%d", time.Now().UnixNano())
	return s.call(ctx, "POST", "/moves", "", map[string][]item{"items": {{"workspace/tally", to, "*"}}}, nil)
}

func verify(ctx context.Context, s *socket, _ string) (reply, error) {
	var r struct {
		Events uint64 `json:"events"`
	}
	return reply{}, s.call(ctx, "POST", "/verify", "", nil, &r)
}

// add brings a small project in, as choir repo add does.
func add(ctx context.Context, s *socket, _ string) (reply, error) { return bring(ctx, s, "work") }

func bring(ctx context.Context, s *socket, name string) (reply, error) {
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	for name, text := range map[string]string{"README.md": "# work\n", "a.txt": "a\n", "b.txt": "b\n", "lines.txt": "first\n"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), ModTime: time.Unix(1_700_000_000, 0)}); err != nil {
			return reply{}, err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return reply{}, err
		}
	}
	if err := w.Close(); err != nil {
		return reply{}, err
	}
	err := s.call(ctx, "PUT", "/repos/"+name, "", &content, nil)
	var no *refusal
	if errors.As(err, &no) && no.Status == http.StatusConflict {
		return reply{}, nil // the answer to the first try was lost
	}
	return reply{}, err
}
