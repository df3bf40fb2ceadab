package director_test

import (
	"context"
	"encoding/json"
	"fmt"

	"choiros/internal/choir"
	"choiros/internal/director/runscript"
)

// associate answers each task with the script's result, once.
func (p *play) associate(ctx context.Context) error {
	tries := map[string]int{}
	return p.ground.follow(ctx, func(e choir.Event) error {
		if e.Type != "task.dispatched" {
			return nil
		}
		var d choir.TaskDispatched
		if err := json.Unmarshal(e.Payload, &d); err != nil {
			return err
		}
		tries[d.Step]++
		if len(p.script.Results[d.Step]) == 0 {
			return nil // a task that works until it is stopped
		}
		res, err := p.script.Result(d, tries[d.Step])
		if err != nil {
			return err
		}
		draft, err := choir.NewDraft(choir.DeriveID(d.Task.TaskID, "returned"), &choir.TaskReturned{Result: res})
		if err != nil {
			return err
		}
		_, err = p.ground.Append(ctx, choir.RoleAssociate, draft.ForRun(e.Run, d.Task.TaskID).CausedBy(e.ID))
		return err
	})
}

// user does what the script says the person does.
func (p *play) user(ctx context.Context) error {
	seen := map[choir.Type]int{}
	question := ""
	return p.ground.follow(ctx, func(e choir.Event) error {
		seen[e.Type]++
		if e.Type == "question.asked" {
			var q choir.QuestionAsked
			if err := json.Unmarshal(e.Payload, &q); err != nil {
				return err
			}
			question = q.Question.ID
		}
		for i, r := range p.script.User {
			if r.After != e.Type || max(r.Nth, 1) != seen[e.Type] {
				continue
			}
			draft, err := choir.NewDraft(choir.DeriveID(runID, "user", fmt.Sprint(i)), reaction(r, question))
			if err != nil {
				return err
			}
			if _, err := p.ground.Append(ctx, choir.RoleCLI, draft.ForRun(runID, "")); err != nil {
				return err
			}
		}
		return nil
	})
}

func reaction(r runscript.Reaction, question string) choir.Payload {
	switch {
	case r.Cancel:
		return &choir.RunCancelRequested{}
	case r.Steer != "":
		return &choir.SteeringSubmitted{Text: r.Steer}
	}
	return &choir.QuestionAnswered{Question: question, Text: r.Answer}
}
