package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// undo takes back the task of the step before. After a power cut the files of
// that task may be gone from the workspace: then it conflicts and does nothing.
func undo(ctx context.Context, s *socket, key string) (reply, error) {
	var r struct {
		Seq uint64 `json:"seq"`
	}
	err := s.call(ctx, "POST", "/undo", "", map[string]string{"of": taskID(key)}, &r)
	var no *refusal
	if errors.As(err, &no) && no.Status == http.StatusConflict && strings.Contains(no.Detail, "changed differently") {
		return reply{Status: "conflict"}, nil
	}
	return reply{Seq: r.Seq, Undone: key}, err
}

// export takes the computer out as one file, which has to be whole.
func export(ctx context.Context, s *socket, _ string) (reply, error) {
	_, err := archive(ctx, s)
	return reply{}, err
}

func archive(ctx context.Context, s *socket) ([]byte, error) {
	var file bytes.Buffer
	if err := s.call(ctx, "GET", "/archive", "", nil, &file); err != nil {
		return nil, err
	}
	return file.Bytes(), wholeArchive(file.Bytes())
}

// wholeArchive reads an exported file to its end.
func wholeArchive(raw []byte) error {
	r := tar.NewReader(bytes.NewReader(raw))
	for n := 0; ; n++ {
		_, err := r.Next()
		if err == io.EOF && n > 1 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the exported file, %d bytes: %w", len(raw), err)
		}
	}
}

// importAgain makes a second computer of the exported file.
func importAgain(ctx context.Context, s *socket, key string) (reply, error) {
	file, err := archive(ctx, s)
	if err != nil {
		return reply{}, err
	}
	var r struct {
		ID string `json:"id"`
	}
	err = s.request(ctx, "POST", "/api/computers?name=import-"+key, "", bytes.NewReader(file), &r)
	if err == nil {
		s.furnished(ctx, r.ID)
	}
	return reply{Forked: r.ID}, refused(err, http.StatusConflict)
}

// furnished waits until a new computer shows its workspace, or ctx ends: it is
// acknowledged before that.
func (s *socket) furnished(ctx context.Context, id string) {
	for s.request(ctx, "GET", "/api/computers/"+id+"/folder", "", nil, nil) != nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// collect lets go of what is older than a day.
func collect(ctx context.Context, s *socket, _ string) (reply, error) {
	return reply{}, s.call(ctx, "POST", "/collect", "", map[string]int{"keep_days": 1}, nil)
}

// files writes, copies, moves and removes files and folders, as a person does. A
// step whose answer was lost is refused when it is done again.
func files(ctx context.Context, s *socket, key string) (reply, error) {
	anew, known := s.with("If-None-Match", "*"), s.with("If-Match", "*")
	at := "hand-" + key
	return reply{}, errors.Join(
		refused(anew.call(ctx, "PUT", "/files/"+at+"/a.txt", "", strings.NewReader("by hand "+key+"\n"), nil), http.StatusConflict),
		transfer(ctx, s, "/copies", at+"/a.txt", at+"/b.txt"),
		transfer(ctx, s, "/moves", at+"/b.txt", at+"/c.txt"),
		transfer(ctx, s, "/copies", at, at+"-too"),
		refused(known.call(ctx, "DELETE", "/files/"+at+"/a.txt", "", nil, nil), http.StatusNotFound),
		refused(known.call(ctx, "DELETE", "/files/"+at+"-too", "", nil, nil), http.StatusNotFound))
}

func transfer(ctx context.Context, s *socket, verb, from, to string) error {
	type item struct {
		From  string `json:"from"`
		To    string `json:"to"`
		Match string `json:"if_match"`
	}
	body := struct {
		Items []item `json:"items"`
	}{[]item{{from, to, "*"}}}
	err := s.call(ctx, "POST", verb, "", body, nil)
	return refused(refused(err, http.StatusConflict), http.StatusNotFound)
}

// project brings another project in.
func project(ctx context.Context, s *socket, key string) (reply, error) {
	return bring(ctx, s, "p-"+key)
}

// crowd is a task that writes more files than one batch of the blobs' log takes.
func crowd(ctx context.Context, s *socket, key string) (reply, error) {
	return submit(ctx, s, editing(key, "mkdir many-"+key+" && for i in $(seq 400); do echo "+key+" $i > many-"+key+"/$i; done"))
}

// thousands is a task after which a repository has as many objects as are packed.
func thousands(ctx context.Context, s *socket, key string) (reply, error) {
	return submit(ctx, s, editing(key, "mkdir all-"+key+" && cd all-"+key+" && seq 4000 | split -l 1 -a 4"))
}

// attributes is a task after which git itself has to make the checkpoint.
func attributes(ctx context.Context, s *socket, key string) (reply, error) {
	return submit(ctx, s, editing(key, "echo '*.txt text' > .gitattributes && echo "+key+" >> lines.txt"))
}

// editBeside is a task in another project, which works beside one of the usual project. The
// owner's file makes the project.
func editBeside(ctx context.Context, s *socket, key string) (reply, error) {
	anew := s.with("If-None-Match", "*")
	err := refused(anew.call(ctx, "PUT", "/files/workspace/beside/hand-"+key+".txt", "", strings.NewReader("by hand "+key+"\n"), nil), http.StatusConflict)
	if err != nil {
		return reply{}, err
	}
	t := editing(key, "echo "+key+" >> lines.txt")
	t.Repo = "beside"
	return submit(ctx, s, t)
}
