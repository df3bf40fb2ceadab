package facts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/facts"
	"choiros/internal/snapshot"
)

// story is a log with one prompt and one result.
type story struct{}

var (
	task  = choir.DeriveID(run, "task")
	other = choir.DeriveID(run, "task of another run")
)

func (story) First(_ context.Context, t choir.Type, subject ...string) (choir.Event, error) {
	switch {
	case t == choir.TypePromptSubmitted && subject[0] == string(run):
		return choir.Event{Seq: 7, Run: run}, nil
	case t == choir.TypeTaskReturned && subject[0] == string(task):
		return choir.Event{Seq: 20, Run: run}, nil
	case t == choir.TypeTaskReturned && subject[0] == string(other):
		return choir.Event{Seq: 30, Run: other}, nil
	}
	return choir.Event{}, choir.E("test", choir.CodeNotFound, "no such event")
}

// lookerOf returns Facts whose workspace is before until event 20, then after.
func lookerOf(t *testing.T, before, after map[string]string) *facts.Facts {
	t.Helper()
	keeper := snapshot.NewKeeper(mem.New(mem.Config{}))
	old, now := snapshotOf(t, keeper, folderOf(t, before)), snapshotOf(t, keeper, folderOf(t, after))
	return facts.New(story{}, func(_ context.Context, seq uint64) (choir.Digest, error) {
		if seq < 20 {
			return old, nil
		}
		return now, nil
	}, keeper)
}

func TestLook(t *testing.T) {
	t.Parallel()
	before := map[string]string{
		"workspace/pond/birds.txt": "heron\nduck\n", "workspace/pond/empty": "", "workspace/pond/picture": "\x00\x01",
		"workspace/pond/src/a.go": "package a // heron\n", "workspace/pond/.git/config": "heron\n", "workspace/pond/node_modules/x.js": "heron\n",
		"workspace/pond/large": strings.Repeat("heron\n", 200_000), "workspace/pond/odd\x1bname": "heron\x1b[31m\n", "workspace/pond/nothing/x": "",
	}
	after := map[string]string{"workspace/pond/birds.txt": "heron\nduck\ngoose\n"}
	f := lookerOf(t, before, after)
	for _, c := range []struct {
		req  choir.LookRequest
		want string
		code choir.Code
	}{
		{choir.LookRequest{What: "list"}, "workspace/\n", ""},
		{choir.LookRequest{What: "list", Path: "workspace/pond"}, ".git/\nbirds.txt  11 bytes\nempty  0 bytes\nlarge  1200000 bytes\nnode_modules/\nnothing/\nodd name  11 bytes\npicture  2 bytes\nsrc/\n", ""},
		{choir.LookRequest{What: "list", Path: "/workspace/../workspace/pond/birds.txt"}, "workspace/pond/birds.txt  11 bytes\n", ""},
		{choir.LookRequest{What: "list", Path: "../../etc"}, "", choir.CodeInvalid},
		{choir.LookRequest{What: "list", Path: "workspace/pond", Task: task}, "birds.txt  17 bytes\n", ""},
		{choir.LookRequest{What: "list", Task: other}, "", choir.CodeNotFound},
		{choir.LookRequest{What: "read", Path: "workspace/pond/birds.txt"}, "1\theron\n2\tduck\n", ""},
		{choir.LookRequest{What: "read", Path: "workspace/pond/birds.txt", Task: task, From: 3}, "3\tgoose\nlines 3 to 3 of 3\n", ""},
		{choir.LookRequest{What: "read", Path: "workspace/pond/birds.txt", From: 4}, "", choir.CodeInvalid},
		{choir.LookRequest{What: "read", Path: "workspace/pond/empty"}, "The file is empty.\n", ""},
		{choir.LookRequest{What: "read", Path: "workspace/pond/picture"}, "", choir.CodeInvalid},
		{choir.LookRequest{What: "read", Path: "workspace/pond/large"}, "", choir.CodeInvalid},
		{choir.LookRequest{What: "read", Path: "workspace/pond"}, "", choir.CodeInvalid},
		{choir.LookRequest{What: "search", Pattern: "^her|her.*n$"}, "workspace/pond/birds.txt:1: heron\nworkspace/pond/odd name:1: heron\uFFFD[31m\nworkspace/pond/src/a.go:1: package a // heron\n", ""},
		{choir.LookRequest{What: "search", Path: "workspace/pond/.git", Pattern: "heron"}, "workspace/pond/.git/config:1: heron\n", ""},
		{choir.LookRequest{What: "search", Path: "workspace/pond/birds.txt", Pattern: "d"}, "workspace/pond/birds.txt:2: duck\n", ""},
		{choir.LookRequest{What: "search", Pattern: "emu"}, "Nothing was found.\n", ""},
		{choir.LookRequest{What: "search", Pattern: "("}, "", choir.CodeInvalid},
	} {
		c.req.Run = run
		got, err := f.LookAtWorkspace(t.Context(), c.req)
		if got.Text != c.want || choir.CodeOf(err) != c.code {
			t.Errorf("%+v: %v\n%q", c.req, err, got.Text)
		}
	}
	if _, err := f.LookAtWorkspace(t.Context(), choir.LookRequest{Run: other, What: "list"}); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("of another run: %v", err)
	}
}

// TestALookIsBounded: what is shown of much says that it is not all.
func TestALookIsBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{"long": strings.Repeat(strings.Repeat("heron ", 1000)+"\n", 100)}
	for i := range 2000 {
		files[fmt.Sprintf("many/%04d-%s", i, strings.Repeat("x", 40))] = "heron\n"
	}
	f := lookerOf(t, files, nil)
	for _, c := range []struct {
		req  choir.LookRequest
		want string
	}{
		{choir.LookRequest{What: "list", Path: "many"}, "more\n"},
		{choir.LookRequest{What: "read", Path: "long"}, "of 100\n"},
		{choir.LookRequest{What: "search", Pattern: "heron"}, "lines are shown; narrow the pattern or the path.\n"},
	} {
		c.req.Run = run
		got, err := f.LookAtWorkspace(t.Context(), c.req)
		if err != nil || !strings.HasSuffix(got.Text, c.want) || len(got.Text) > choir.MaxLook {
			t.Errorf("%+v: %v, %d bytes: %.100q", c.req, err, len(got.Text), got.Text[max(0, len(got.Text)-100):])
		}
	}
}
