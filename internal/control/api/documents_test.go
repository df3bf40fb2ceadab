package api_test

import (
	"encoding/json"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
	"choiros/internal/eventstore"
)

// documents is what a person does with documents, over HTTP.
func documents(t *testing.T, p *controltest.Plane) {
	ask := func(method, path string, body any, status int, into any) {
		t.Helper()
		res, raw := p.Do(req{Method: method, Path: p.Base() + "/documents" + path, Body: body})
		if res.StatusCode != status || into != nil && json.Unmarshal(raw, into) != nil {
			t.Fatalf("%s %s: %s %s", method, path, res.Status, raw)
		}
	}
	var doc eventstore.Document
	ask("POST", "", api.DocumentRequest{Title: "Notes", Content: "zero"}, 201, &doc)
	ask("POST", "", api.DocumentRequest{ID: "x", Title: "Notes"}, 422, nil)
	ask("POST", "", api.DocumentRequest{}, 422, nil)
	at := "/" + string(doc.ID)
	ask("PUT", at+"/versions/1", api.VersionRequest{Content: "one"}, 200, &doc)
	if doc.Version != 1 || doc.Content != "one" || doc.By != choir.SourceUser {
		t.Errorf("saved: %+v", doc)
	}
	var refused api.Problem
	ask("PUT", at+"/versions/1", api.VersionRequest{Content: "other"}, 409, &refused)
	if refused.Document == nil || refused.Document.Content != "one" || refused.Document.Version != 1 {
		t.Errorf("refused: %+v", refused)
	}
	ask("PUT", at+"/versions/0", api.VersionRequest{}, 422, nil)
	ask("PUT", at+"/title", api.RenameRequest{Title: "Better"}, 200, &doc)
	ask("PUT", at+"/title", api.RenameRequest{Title: "  "}, 422, nil)
	if doc.Title != "Better" {
		t.Errorf("renamed: %+v", doc)
	}
	now, _ := p.Computers()[0].Store().Head()
	made := now - 2 // then it was saved and renamed
	var before, after eventstore.Document
	ask("GET", at+"?as_of="+num(made), nil, 200, &before)
	ask("GET", at+"?as_of="+num(now), nil, 200, &after)
	if before.Content != "zero" || before.Title != "Notes" || after.Content != "one" || after.Title != "Better" {
		t.Errorf("as of %d: %+v, of %d: %+v", made, before, now, after)
	}
	ask("GET", at+"?as_of=1", nil, 404, nil)
	ask("GET", at+"?version=0&as_of="+num(now), nil, 422, nil)
	ask("GET", at+"?as_of="+num(now+1000), nil, 404, nil)
	var versions []eventstore.Document
	ask("GET", at+"/versions", nil, 200, &versions)
	if len(versions) != 2 || versions[0].Version != 1 || versions[0].Content != "" {
		t.Errorf("versions: %+v", versions)
	}
	var over eventstore.Overlay
	ask("POST", at+"/overlays", api.OverlayRequest{Version: 1, Kind: choir.OverlayComment, Anchor: choir.TextAnchor{Exact: "one"}, Text: "why?"}, 201, &over)
	ask("POST", at+"/overlays", api.OverlayRequest{Version: 1, Kind: "praise"}, 422, nil)
	ask("POST", at+"/overlays/"+string(over.ID)+"/settle", api.SettleRequest{Outcome: choir.OverlayResolved}, 200, &over)
	var all []eventstore.Overlay
	ask("GET", at+"/overlays", nil, 200, &all)
	if len(all) != 1 || all[0].Outcome != choir.OverlayResolved || all[0].Anchor.Exact != "one" {
		t.Errorf("overlays: %+v", all)
	}
	ask("DELETE", at, nil, 204, nil)
	ask("DELETE", at, nil, 404, nil)
	ask("GET", at+"?as_of="+num(made), nil, 200, &before)
	if before.Content != "zero" {
		t.Errorf("as it was before it was removed: %+v", before)
	}
}
