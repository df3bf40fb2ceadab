package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// noteBytes is the size of a note: 400 of them fill a segment of the journal.
const noteBytes = 19_000

// notesOfDocument is how many notes lie over one document.
const notesOfDocument = 16

// note puts a long comment over a document. Nothing in choir holds a lock for
// it, so that notes of several threads share a write of the journal.
func note(ctx context.Context, s *socket, key string) (reply, error) {
	thread, number := key[:strings.LastIndexByte(key, '-')], key[strings.LastIndexByte(key, '-')+1:]
	n, err := strconv.Atoi(number)
	if err != nil {
		return reply{}, err
	}
	document := taskID(fmt.Sprintf("%s-notes-%d", thread, n/notesOfDocument))
	if n%notesOfDocument == 0 {
		if _, err := newDocument(ctx, s, document, "notes", "notes of "+thread); err != nil {
			return reply{}, err
		}
	}
	at, err := overlay(ctx, s, document, key, 0, "note "+key+" "+strings.Repeat("n", noteBytes))
	return reply{Seq: at, Mark: "note " + key + " "}, err
}

// document begins, saves, comments and renames a document, and every second one
// is removed in the end. A step that is done again finds what the first did.
func document(ctx context.Context, s *socket, key string) (reply, error) {
	id := taskID(key)
	if _, err := newDocument(ctx, s, id, "document "+key, "first "+key); err != nil {
		return reply{}, gone(err)
	}
	var saved struct {
		Seq uint64 `json:"seq"`
	}
	body := map[string]string{"content": "second " + key + " <&> ä", "note": "more"}
	if err := s.call(ctx, "PUT", "/documents/"+id+"/versions/1", "", body, &saved); err != nil {
		return reply{}, gone(err)
	}
	_, err := overlay(ctx, s, id, key, 1, "is that so?")
	if err == nil {
		err = s.call(ctx, "POST", "/documents/"+id+"/overlays/"+taskID(key+"-overlay")+"/settle", "", map[string]string{"outcome": "resolved"}, nil)
	}
	if err == nil {
		err = s.call(ctx, "PUT", "/documents/"+id+"/title", "", map[string]string{"title": "renamed " + key}, nil)
	}
	if err == nil && strings.HasSuffix(key, "1") {
		err = s.call(ctx, "DELETE", "/documents/"+id, "", nil, nil)
	}
	return reply{}, gone(err)
}

// gone is nil for what an earlier try has removed already.
func gone(err error) error { return refused(err, http.StatusNotFound) }

// newDocument creates a document. A document that an earlier try has created, and
// perhaps renamed, is no conflict.
func newDocument(ctx context.Context, s *socket, id, title, content string) (seq uint64, err error) {
	var r struct {
		Seq uint64 `json:"seq"`
	}
	err = s.call(ctx, "POST", "/documents", "", map[string]string{"id": id, "title": title, "content": content}, &r)
	return r.Seq, refused(err, http.StatusConflict)
}

func overlay(ctx context.Context, s *socket, document, key string, version int, text string) (seq uint64, err error) {
	var r struct {
		Seq uint64 `json:"seq"`
	}
	body := struct {
		ID      string `json:"id"`
		Version int    `json:"version"`
		Kind    string `json:"kind"`
		Text    string `json:"text"`
	}{taskID(key + "-overlay"), version, "comment", text}
	err = s.call(ctx, "POST", "/documents/"+document+"/overlays", "", body, &r)
	return r.Seq, err
}

// desk opens, moves, minimises and perhaps closes a window, and changes the
// theme and a setting.
func desk(ctx context.Context, s *socket, key string) (reply, error) {
	type rect struct {
		X      int `json:"x"`
		Y      int `json:"y"`
		Width  int `json:"width"`
		Height int `json:"height"`
	}
	type opened struct {
		App    string `json:"app"`
		Title  string `json:"title"`
		Bounds rect   `json:"bounds"`
	}
	var r struct {
		Seq    uint64 `json:"seq"`
		Window struct {
			ID string `json:"id"`
		} `json:"window"`
	}
	err := s.call(ctx, "POST", "/windows", key, opened{"files", "window " + key, rect{1, 2, 300, 200}}, &r)
	if err != nil {
		return reply{}, err
	}
	window := "/windows/" + r.Window.ID
	changes := []error{
		s.call(ctx, "POST", window+"/move", key, struct {
			Bounds rect `json:"bounds"`
		}{rect{5, 6, 400, 300}}, nil),
		s.call(ctx, "POST", window+"/snap", key, map[string]string{"to": "left"}, nil),
		s.call(ctx, "POST", window+"/minimise", key, nil, nil),
		s.call(ctx, "POST", window+"/title", key, map[string]string{"title": "another <title>"}, nil),
		s.call(ctx, "POST", "/theme", key, map[string]string{"name": []string{"light", "dark"}[len(key)%2]}, nil),
		s.call(ctx, "POST", "/settings", key, map[string]string{"key": "crash", "value": key}, nil),
		s.call(ctx, "POST", "/settings", key+"-on", map[string]string{"key": "crash-off", "value": key}, nil),
		s.call(ctx, "POST", "/settings", key+"-off", map[string]string{"key": "crash-off"}, nil),
	}
	if !strings.HasSuffix(key, "0") {
		changes = append(changes, s.call(ctx, "POST", window+"/close", key, nil, nil))
	}
	for i := range changes {
		changes[i] = gone(changes[i])
	}
	return reply{Seq: r.Seq, Mark: `"window ` + key + `"`}, errors.Join(changes...)
}
