package conductor

import (
	"cmp"
	"context"
	"embed"
	"strings"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

//go:embed schema/*.json
var schemas embed.FS

// tools returns all tools of the model. Each decodes its input strictly, and an invalid
// call is answered with the field's path.
func (r *run) tools() []agentloop.Tool {
	return []agentloop.Tool{
		tool(submitPlan, "Hand in the plan of this run: steps, each one task for the Associate. Answers with the result of the first step. When there is a plan already: hand in the steps that are left, in place of all that are not accepted.", r.refusedAgain(r.submitPlan)),
		tool("judge_result", "Hold the result you were just given against every acceptance criterion of its step: accept, revise (a new task with a corrected instruction) or abort (the run fails). Answers with the result of the next task.", r.refusedAgain(r.judgeResult)),
		tool("look", "Look at files of the workspace, or at the whole diff or log of a task, without a task. It reads a snapshot and changes nothing.", r.refusedAgain(r.lookAtPart)),
		tool("ask_user", "Ask the user something that only the user can answer, and wait for the answer.", r.refusedAgain(r.askUser)),
		tool("answer", "Give the final answer to the user and end the run.", r.refusedAgain(r.answerUser)),
		tool("show_toast", "Answer a greeting or a trivial prompt with one short sentence and end the run; no document is made.", r.refusedAgain(r.showToast)),
	}
}

// submitPlan is the name of the tool with which the model submits a plan.
const submitPlan = "submit_plan"

// tool returns a tool with the embedded schema of its name.
func tool(name, about string, handle handler) agentloop.Tool {
	schema, err := schemas.ReadFile("schema/" + name + ".json")
	if err != nil {
		panic("the schema of " + name + " is not embedded: " + err.Error())
	}
	return agentloop.Tool{Def: model.ToolDef{Name: name, Description: about, Schema: schema}, Run: handle}
}

// refuse returns errors as the result of a tool call, for the model to correct.
func refuse(errs ...error) (agentloop.Result, error) {
	if len(errs) == 1 {
		return agentloop.Result{Text: "refused: " + plain(errs[0]), IsError: true}, nil
	}
	var b strings.Builder
	b.WriteString("refused:")
	for _, err := range errs[:min(len(errs), maxProblems)] {
		b.WriteString("\n- " + problem(err))
	}
	return agentloop.Result{Text: b.String(), IsError: true}, nil
}

// textResult returns a text as the result of a tool call, or the error, which ends the
// loop.
func textResult(text string, err error) (agentloop.Result, error) {
	return agentloop.Result{Text: text}, err
}

// endWith sets the run's ending and stops the loop.
func (r *run) endWith(e ending) (agentloop.Result, error) {
	r.ending = &e
	return agentloop.Result{Text: "The run ends.", Stop: true}, nil
}

type answerInput struct {
	Status   choir.AnswerStatus `json:"status,omitempty" choir:"enum=done|partly|not_done"`
	Text     string             `json:"text" choir:"len=1..20000"`
	Document *madeInput         `json:"document,omitempty"`
}

// answerUser ends the run with an answer. While a step of the plan is not accepted, it is
// not done.
func (r *run) answerUser(ctx context.Context, call model.Block) (agentloop.Result, error) {
	var in answerInput
	if err := choir.DecodeStrict(call.Input, &in); err != nil {
		return refuse(err)
	}
	status := cmp.Or(in.Status, choir.AnsweredDone)
	if r.plan != nil && r.plan.isOpen() && status == choir.AnsweredDone {
		return refuse(choir.E("", choir.CodeConflict, "step %q is not accepted yet; judge its result first, change what is left with submit_plan, or answer with status partly or not_done", r.plan.steps[r.plan.next].ID))
	}
	if mistake, err := r.checkMade(ctx, in.Document); mistake != nil || err != nil {
		if err != nil {
			return agentloop.Result{}, err
		}
		return refuse(choir.Under("document", mistake))
	}
	r.made = in.Document
	err := r.answerWith(status, in.Text)
	return agentloop.Result{Text: "The run ends.", Stop: true}, err
}

// answerWith sets the run's ending to an answer and makes its document.
func (r *run) answerWith(status choir.AnswerStatus, text string) error {
	r.status = status
	r.ending = &ending{choir.OutcomeDone, "", text}
	if r.rec.prompt.Proposal != nil {
		return nil // it is told where it is proposed
	}
	return r.ledger.commit(r.ledger.documentEffect()...)
}

type toastInput struct {
	Text string `json:"text" choir:"len=1..500"`
}

// showToast ends the run with a short signed answer and no document.
func (r *run) showToast(_ context.Context, call model.Block) (agentloop.Result, error) {
	var in toastInput
	if err := choir.DecodeStrict(call.Input, &in); err != nil {
		return refuse(err)
	}
	if r.ledger.document != "" {
		return refuse(choir.E("", choir.CodeConflict, "this run has work to tell about; end it with the tool answer"))
	}
	r.toast = in.Text
	return r.endWith(ending{choir.OutcomeDone, "", in.Text})
}
