package eventstore

import (
	"bytes"
	"context"
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/choir/choirtest"
)

// history makes drafts of every registered type over few runs, tasks, paths and
// documents, so that they meet.
func history(t *rapid.T, n int) (roles []choir.Role, drafts []choir.Draft) {
	var pool []choir.ID
	for range 3 {
		pool = append(pool, newID())
	}
	pick := rapid.SampledFrom(pool)
	digest := rapid.SampledFrom([]choir.Digest{choir.DigestOf([]byte("a")), choir.DigestOf([]byte("b"))})
	path := rapid.SampledFrom([]string{"a", "b", "b/c", "d%25"})
	infos := choir.Types()
	for i := range n {
		info := infos[i%len(infos)]
		if i >= len(infos) {
			info = rapid.SampledFrom(infos).Draw(t, "type")
		}
		p := choirtest.Payload(info).Draw(t, "payload")
		run, task := pick.Draw(t, "run"), pick.Draw(t, "task")
		switch p := p.(type) {
		case *choir.TaskDispatched:
			p.Task.TaskID, p.Task.RunID = task, run
		case *choir.TaskReturned:
			p.Result.TaskID, p.Result.RunID = task, run
		case *choir.TaskJudged:
			p.Task = task
		case *choir.DocumentCreated:
			p.Document = pick.Draw(t, "document")
		case *choir.DocumentVersioned:
			p.Document, p.Version = pick.Draw(t, "document"), 1+i%5
		case *choir.FileWritten:
			for k := range p.Files {
				p.Files[k].Path, p.Files[k].Digest = path.Draw(t, "path"), digest.Draw(t, "digest")
			}
		case *choir.FileRemoved:
			for k := range p.Paths {
				p.Paths[k] = path.Draw(t, "path")
			}
		case *choir.TimelineRewound:
			p.ToSeq = rapid.Uint64Range(1, uint64(i+1)).Draw(t, "to")
		}
		d, err := choir.NewDraft(newID(), p)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Payload) > choir.InlineLimit {
			continue
		}
		roles, drafts = append(roles, info.Roles[0]), append(drafts, d.ForRun(run, task))
	}
	return roles, drafts
}

func TestARebuildGivesTheSameDump(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		s := open(t, dir)
		defer s.Close()
		roles, drafts := history(rt, len(choir.Types())+40)
		for i, d := range drafts {
			// What the log has already, and answers to nothing, are refused.
			_, err := s.Append(ctx, roles[i], d)
			if info, _ := choir.LookupType(d.Type); err != nil && (len(info.Once) == 0 || choir.CodeOf(err) != choir.CodeConflict && choir.CodeOf(err) != choir.CodeNotFound) {
				rt.Fatalf("%s: %v", d.Type, err)
			}
		}
		var live, rebuilt bytes.Buffer
		before := must[choir.Digest](t)(s.Dump(ctx, &live))
		if err := s.Rebuild(ctx); err != nil {
			rt.Fatal(err)
		}
		if after := must[choir.Digest](t)(s.Dump(ctx, &rebuilt)); after != before {
			rt.Fatalf("the rebuild differs:\n%s", firstDifference(live.Bytes(), rebuilt.Bytes()))
		}
		// A fresh copy of the journal, in memory, must say the same too.
		ro, err := OpenReadOnly(ctx, dir)
		if err != nil {
			rt.Fatal(err)
		}
		defer ro.Close()
		if again := dump(t, ro); again != before {
			rt.Fatal("a reading-only store differs")
		}
	})
}

func firstDifference(a, b []byte) string {
	la, lb := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(la), len(lb)) {
		if !bytes.Equal(la[i], lb[i]) {
			return string(la[i]) + "\n" + string(lb[i])
		}
	}
	return "one is longer"
}
