package eventstore

import (
	"unicode/utf8"

	"choiros/internal/choir"
)

// titleRunes is how much of a prompt names its conversation.
const titleRunes = 120

func promptSubmitted(v *view, e *choir.Event, p *choir.PromptSubmitted) error {
	_, ok, err := v.runs.get(e.Run)
	if err != nil {
		return err
	}
	if !ok {
		v.runs.put(e.Run, Run{ID: e.Run, Prompt: p.Text, Repo: p.Repo, Source: e.Source, After: p.After, Paced: p.Paced, State: RunPlanning, FirstSeq: e.Seq, StartedAt: e.Time})
		v.conversations.put(e.Run, Conversation{ID: e.Run, Title: firstRunes(p.Text, titleRunes), FirstSeq: e.Seq, At: e.Time})
	}
	return v.say(e, p.Text)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		if _, size := utf8.DecodeRuneInString(s[i:]); size > 0 {
			n--
		}
	}
	return s
}

// say adds a message to the conversation of the event's run.
func (v *view) say(e *choir.Event, text string) error {
	value, err := encode(Message{Conversation: e.Run, Seq: e.Seq, At: e.Time, From: e.Source, Type: e.Type, Text: text})
	v.add(messagesTable, row{key: string(e.Run), seq: e.Seq, value: value})
	return err
}

// changeRun changes a run that has not ended; others stay as they are.
func (v *view) changeRun(id choir.ID, change func(*Run)) error {
	run, ok, err := v.runs.get(id)
	if err != nil || !ok || !run.State.Open() {
		return err
	}
	change(&run)
	v.runs.put(id, run)
	return nil
}

func steeringSubmitted(v *view, e *choir.Event, p *choir.SteeringSubmitted) error {
	return v.say(e, p.Text)
}

func planMade(v *view, e *choir.Event, _ *choir.PlanMade) error {
	return v.changeRun(e.Run, func(r *Run) {
		if r.State == RunPlanning {
			r.State = RunRunning
		}
	})
}

func questionAsked(v *view, e *choir.Event, p *choir.QuestionAsked) error {
	if err := v.say(e, p.Question.Text); err != nil {
		return err
	}
	return v.changeRun(e.Run, func(r *Run) { r.State, r.Question = RunWaiting, &p.Question })
}

func questionAnswered(v *view, e *choir.Event, p *choir.QuestionAnswered) error {
	if err := v.say(e, p.Text); err != nil {
		return err
	}
	return v.changeRun(e.Run, func(r *Run) {
		if r.Question != nil && r.Question.ID == p.Question {
			r.State, r.Question = RunRunning, nil
		}
	})
}

func toastShown(v *view, e *choir.Event, p *choir.ToastShown) error { return v.say(e, p.Text) }

func runFinished(v *view, e *choir.Event, p *choir.RunFinished) error {
	if p.Answer != "" {
		if err := v.say(e, p.Answer); err != nil {
			return err
		}
	}
	return v.changeRun(e.Run, func(r *Run) {
		r.State, r.Code, r.Answer, r.Signature = RunState(p.Outcome), p.Code, p.Answer, p.Signature
		r.Question, r.FinishedAt = nil, e.Time
	})
}

// runDismissed changes a run that has ended.
func runDismissed(v *view, e *choir.Event, _ *choir.RunDismissed) error {
	run, ok, err := v.runs.get(e.Run)
	if err != nil || !ok {
		return err
	}
	run.Dismissed = true
	v.runs.put(e.Run, run)
	return nil
}

func modelReturned(v *view, e *choir.Event, p *choir.ModelReturned) error {
	u, _, err := v.usage.get(e.Run)
	if err != nil {
		return err
	}
	u.add(Usage{
		Calls: 1, InputTokens: p.InputTokens, OutputTokens: p.OutputTokens, CachedTokens: p.CachedTokens,
		CostUSD: p.CostUSD, DurationMS: p.DurationMS,
	})
	if p.Code != "" {
		u.Failed++
	}
	v.usage.put(e.Run, u)
	return nil
}

func (u *Usage) add(more Usage) {
	u.Calls += more.Calls
	u.Failed += more.Failed
	u.InputTokens += more.InputTokens
	u.OutputTokens += more.OutputTokens
	u.CachedTokens += more.CachedTokens
	u.CostUSD += more.CostUSD
	u.DurationMS += more.DurationMS
}
