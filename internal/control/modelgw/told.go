package modelgw

import "choiros/internal/model"

// told counts what a program has been sent of an answer while it arrived: its text and
// thinking, until the first tool call.
type told struct {
	tools    bool // a tool call has begun
	sent     int  // bytes of text
	thoughts int  // thinking blocks
}

// note counts a piece, and reports whether it is to be sent now.
func (t *told) note(d model.Delta) bool {
	t.tools = t.tools || d.Tool != "" || d.Input != ""
	switch {
	case t.tools:
		return false
	case d.Thinking != nil:
		t.thoughts++
		return true
	}
	t.sent += len(d.Text)
	return d.Text != ""
}

// rest returns the part of the content that is still to be sent.
func (t *told) rest(content []model.Block) []model.Block {
	var out []model.Block
	left, thoughts := t.sent, t.thoughts
	for _, b := range content {
		switch {
		case b.Kind == model.Thinking && thoughts > 0:
			thoughts--
			continue
		case b.Kind == model.Text && left > 0:
			n := min(left, len(b.Text))
			left -= n
			if b.Text = b.Text[n:]; b.Text == "" {
				continue
			}
		}
		out = append(out, b)
	}
	return out
}
