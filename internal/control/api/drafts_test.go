package api_test

import (
	"encoding/json"
	"net/url"
	"testing"

	"choiros/internal/computer/desk/drafts"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
)

// typed is what becomes of text that is typed and not saved, over HTTP.
func typed(t *testing.T, p *controltest.Plane) {
	ask := func(method, path string, body any, status int, into any) {
		t.Helper()
		res, raw := p.Do(req{Method: method, Path: p.Base() + "/drafts" + path, Body: body})
		if res.StatusCode != status || into != nil && json.Unmarshal(raw, into) != nil {
			t.Fatalf("%s %s: %s %s", method, path, res.Status, raw)
		}
	}
	at := "/code?subject=" + url.QueryEscape("workspace/a b/calc.py")
	var d, got drafts.Draft
	if ask("GET", at, nil, 200, &got); got.Revision != 0 {
		t.Errorf("at first: %+v", got)
	}
	ask("PUT", at, api.DraftRequest{Text: "one", Base: "d1"}, 200, &d)
	if d.Revision == 0 || d.Size != 3 || d.Subject != "workspace/a b/calc.py" {
		t.Errorf("kept: %+v", d)
	}
	var refused api.Problem
	ask("PUT", at, api.DraftRequest{Text: "two"}, 409, &refused)
	if refused.Draft == nil || refused.Draft.Text != "one" || refused.Draft.Revision != d.Revision {
		t.Errorf("refused: %+v", refused)
	}
	ask("PUT", at, api.DraftRequest{Text: "two", Made: d.Revision}, 200, &d)
	ask("GET", at, nil, 200, &got)
	if got.Text != "two" || got.Revision != d.Revision {
		t.Errorf("%+v", got)
	}
	var list []drafts.Draft
	ask("GET", "", nil, 200, &list)
	if len(list) != 1 || list[0].Text != "" || list[0].Size != 3 {
		t.Errorf("listed: %+v", list)
	}
	ask("DELETE", at+"&revision=1000", nil, 409, nil)
	ask("DELETE", at+"&revision="+num(uint64(d.Revision)), nil, 204, nil)
	ask("DELETE", at+"&revision="+num(uint64(d.Revision)), nil, 204, nil)
	var none drafts.Draft
	if ask("GET", at, nil, 200, &none); none.Revision != 0 || none.Text != "" {
		t.Errorf("dropped: %+v", none)
	}
	ask("PUT", "/Code?subject=x", api.DraftRequest{Text: "x"}, 422, nil)
	ask("PUT", "/code?subject=%07", api.DraftRequest{Text: "x"}, 422, nil)
}
