package main

import (
	"encoding/json"
	"image/png"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model/wiretest"
)

// TestAnAgentLooksAtItsPageInTheSandbox: the page is served by the task itself, its words are drawn,
// the model is given the picture, and it is saved where it was asked to be.
func TestAnAgentLooksAtItsPageInTheSandbox(t *testing.T) {
	if _, err := os.Stat("/usr/bin/chromium"); err != nil {
		t.Skip("no browser is on this machine: package chromium")
	}
	s := serving(t, "")
	script, err := wiretest.ParseScript(s.Model)
	if err != nil {
		t.Fatal(err)
	}
	calls := []wiretest.Call{
		{Name: "write_file", Input: json.RawMessage(`{"path":"page.html","content":"<!doctype html><title>Mine</title><body style='margin:0;background:white'><h1 style='margin:0;color:black'>Words of mine</h1>"}`)},
		{Name: "bash", Input: json.RawMessage(`{"command":"python3 -u -m http.server 4321 --bind 127.0.0.1","wait_s":1}`)},
		{Name: "screenshot", Input: json.RawMessage(`{"url":"http://localhost:4321/page.html","width":400,"height":200,"save":"page.png"}`)},
	}
	for i := range script.Rules {
		if script.Rules[i].Name == "edit code" {
			script.Rules[i].Respond.ToolCalls = calls
		}
	}
	if s.Model, err = json.Marshal(script); err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, "")
	server := m.model(s)
	g := newGate(`"media_type":"image/png"`)
	close(g.opened)
	server.Config.Handler = g.before(server.Config.Handler)
	r := m.up()
	c := m.client()
	r.healthy()
	m.must("repo", "add", m.project(s, "greeter"), "--name", "greeter")
	run := begin(t, c, s)
	var said []choir.ToolReturned
	c.waitFor(t, run, func(e choir.Event) bool {
		var p choir.ToolReturned
		if e.Type == choir.TypeToolReturned && json.Unmarshal(e.Payload, &p) == nil {
			said = append(said, p)
		}
		return len(said) == len(calls)
	})
	if got := said[2]; !got.OK || !strings.Contains(got.Output, `400 x 200 pixels, title "Mine"`) || !strings.Contains(got.Output, "[saved as page.png") {
		t.Fatalf("the agent is told %+v", got)
	}
	res, err := c.do(t.Context(), "GET", c.path("/files/"+url.PathEscape("workspace")+"/greeter/page.png"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	pic, err := png.Decode(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	black := 0
	for x := range 400 {
		for y := range 40 {
			if r, g, b, _ := pic.At(x, y).RGBA(); r+g+b < 3*0x4000 {
				black++
			}
		}
	}
	if black < 200 {
		t.Errorf("the words are drawn with %d dark pixels", black)
	}
	select {
	case <-g.reached:
	case <-time.After(patience):
		t.Error("the model is not given the picture")
	}
	m.must("run", string(run), "--cancel")
}
