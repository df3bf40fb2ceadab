package modelgw

import (
	"net/http"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// decodeProgramCall decodes the request of a program in the sandbox that uses a provider's
// API with parse, and returns it with the task that the program works for and without the
// call's id. A program that may not call is refused before its body is read. The errors
// are those of workOf, decodeBody and parse.
func (g *Gateway) decodeProgramCall(w http.ResponseWriter, r *http.Request, parse func(body []byte) (model.Request, error)) (*asked, error) {
	if err := g.limitBodyTime(w); err != nil { // the server reads a short body also after a refusal
		return nil, err
	}
	work, err := g.workOf(r)
	if err != nil {
		return nil, err
	}
	a := &asked{info: model.CallInfo{Run: work.Run, Task: work.Task, Caller: AliasTool}, allowed: work.Allowed}
	return a, g.decodeBody(w, r, AliasTool, deepestList, func(body []byte) (err error) {
		if a.req, err = parse(body); err != nil {
			return err
		}
		return a.encode()
	})
}

// checked returns a parsed request, and the error of its parser or its check.
func checked(req model.Request, err error) (model.Request, error) {
	if err == nil {
		err = req.Check()
	}
	return req, err
}

// workOf returns the run and task for which a program calls. Code forbidden: no task
// with a model_budget is in progress, or the program is in the Director's sandbox.
func (g *Gateway) workOf(r *http.Request) (work Work, err error) {
	if role, _ := g.cfg.Caller(r); role == choir.RoleDirector {
		return work, choir.E("modelgw.serve", choir.CodeForbidden, "programs in the Director's sandbox may not call a model")
	}
	if g.cfg.Running != nil {
		if work, err = g.cfg.Running(r); err != nil {
			return work, choir.Wrap("modelgw.serve", "", err, "find the task that the program works for")
		}
	}
	switch {
	case work.Task == "":
		return work, choir.E("modelgw.serve", choir.CodeForbidden, "a program may call a model only while a task with a model_budget is at work, and none is").
			WithRemedy(giveBudget)
	case work.Allowed == nil:
		return work, choir.E("modelgw.serve", choir.CodeForbidden, "the task at work has no model_budget, so that its programs may not call a model").
			WithRemedy(giveBudget)
	}
	return work, nil
}

const giveBudget = `run it in a task with "model_budget": {"cost_usd": 1}, see choir task --help`

// errorText returns an error's message with its field path and its remedy, for a
// program's own error output.
func errorText(err error) string {
	f := model.FailureOf(err)
	text := f.Message
	if f.Path != "" {
		text = f.Path + " " + text
	}
	if f.Remedy != "" {
		text += " (" + f.Remedy + ")"
	}
	return text
}

// answerStream writes the answer to a program as the stream of its API: pieces as they
// come, then the rest and the end, or the error.
type answerStream interface {
	name(call choir.ID)
	delta(d model.Delta)
	finish(resp model.Response, err error)
}

// called is the part of an answer that has the id of its call.
type called struct{ call choir.ID }

func (c *called) name(call choir.ID) { c.call = call }

// answerProgram makes the model call of a program and answers it, as a stream or by whole. Each answer is
// named by its call: programs join answers of one id into one.
func (g *Gateway) answerProgram(w http.ResponseWriter, r *http.Request, a *asked, stream bool, s answerStream, whole func(model.Response, error)) {
	on := func(model.Delta) {}
	if stream {
		on = s.delta
	}
	call, err := g.cfg.NewID()
	var resp model.Response
	if err == nil {
		s.name(call)
		for _, header := range requestIDs {
			w.Header().Set(header, "req_"+string(call))
		}
		a.info.Call = call
		resp, err = g.call(r.Context(), a, on)
	} else {
		err = choir.Wrap("modelgw.serve", choir.CodeInternal, err, "make an id for the call")
	}
	g.abortIfClosing()
	if stream {
		s.finish(resp, err)
		return
	}
	whole(resp, err)
}
