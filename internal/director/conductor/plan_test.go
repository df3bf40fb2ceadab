package conductor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/choir"
)

const step = `{"id":%q,"title":"t","kind":"run","instruction":"do it","acceptance_criteria":["done"]%s}`

func steps(parts ...string) string {
	return `{"goal":"g","steps":[` + strings.Join(parts, ",") + `]}`
}

func TestPlansThatDoNotHold(t *testing.T) {
	t.Parallel()
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf(step, fmt.Sprint("s", i), "")
	}
	long := strings.Repeat("x", 19_000)
	for name, c := range map[string]struct{ plan, want string }{
		"no JSON":            {`steps`, `$`},
		"unknown field":      {steps(fmt.Sprintf(step, "a", `,"colour":1`)), `steps[0].colour is not a known field`},
		"missing goal":       {`{"steps":[]}`, `steps must have 1 to 32 items`},
		"no criteria":        {`{"goal":"g","steps":[{"id":"a","title":"t","kind":"run","instruction":"i","acceptance_criteria":[]}]}`, `steps[0].acceptance_criteria must have`},
		"the same criterion": {`{"goal":"g","steps":[{"id":"a","title":"t","kind":"run","instruction":"i","acceptance_criteria":["x y","x  y"]}]}`, `steps[0].acceptance_criteria[1] is the same as [0]`},
		"too many steps":     {steps(many...), `steps must have 1 to 32 items`},
		"the same id":        {steps(fmt.Sprintf(step, "a", ""), fmt.Sprintf(step, "a", "")), `steps[1].id "a" is already the id of steps[0]`},
		"unknown dependency": {steps(fmt.Sprintf(step, "a", `,"depends_on":["b"]`)), `steps[0].depends_on[0] there is no step "b"`},
		"itself":             {steps(fmt.Sprintf(step, "a", `,"depends_on":["a"]`)), `steps[0].depends_on[0] "a" waits for "a"`},
		"cycle":              {steps(fmt.Sprintf(step, "a", `,"depends_on":["b"]`), fmt.Sprintf(step, "b", `,"depends_on":["a"]`)), `steps[1].depends_on[0] "b" waits for "a"`},
		"unknown project":    {steps(fmt.Sprintf(step, "a", `,"repo":"attic"`)), `steps[0].repo there is no project "attic"; there are: house`},
		"git, no action":     {`{"goal":"g","steps":[{"id":"a","title":"t","kind":"git","instruction":"i","acceptance_criteria":["c"]}]}`, `steps[0].git_action is required`},
		"action, no git":     {steps(fmt.Sprintf(step, "a", `,"git_action":"git_status"`)), `steps[0].git_action is only for kind git`},
		"command of nothing": {steps(fmt.Sprintf(step, "a", `,"commands":[{"cwd":"x"}]`)), `steps[0].commands[0].argv`},
		"too large": {steps(fmt.Sprintf(step, "a", ""), fmt.Sprintf(step, "b", `,"commands":[{"shell":"`+long+`"}]`),
			fmt.Sprintf(step, "c", `,"commands":[{"shell":"`+long+`"}]`), fmt.Sprintf(step, "d", `,"commands":[{"shell":"`+long+long+`"}]`)), `steps make a plan of`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := decodePlan([]byte(c.plan), "", []string{"house"}, nil)
			if !slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, c.want) }) {
				t.Errorf("problems %q, want one that begins with %q", problems, c.want)
			}
		})
	}
}

func TestEveryProblemIsNamed(t *testing.T) {
	t.Parallel()
	_, problems := decodePlan([]byte(steps(fmt.Sprintf(step, "a", `,"repo":"x"`), fmt.Sprintf(step, "b", `,"depends_on":["z"]`))), "", nil, nil)
	if len(problems) != 2 {
		t.Errorf("problems %q", problems)
	}
}

// TestAllMistakesOfAPlanAreSaidAtOnce: those of its form, each with the field that was
// meant, and those of its steps that could be read.
func TestAllMistakesOfAPlanAreSaidAtOnce(t *testing.T) {
	t.Parallel()
	plan := `{"goals":"g","steps":[
		{"id":"a","titel":"t","kind":"edit","instruction":"i","criteria":["c"],"commands":[{"shell":"x","timeout":"5"}]},
		{"id":"b","title":"t","kind":"run","instruction":7,"acceptance_criteria":["c"],"repo":"attic","colour":{"red":[1]}},
		{"id":"c","title":"t","kind":"run","instruction":"i","acceptance_criteria":["c"],"repo":"cellar","depends_on":["a","z"]}]}`
	_, problems := decodePlan([]byte(plan), "", []string{"house"}, nil)
	want := []string{
		"goals is not a known field; goal was probably meant",
		"steps[0].titel is not a known field; title was probably meant",
		`steps[0].kind must be one of`,
		"steps[0].criteria is not a known field; acceptance_criteria was probably meant",
		"steps[0].commands[0].timeout is not a known field; timeout_s was probably meant",
		"steps[0].acceptance_criteria is required",
		"steps[0].title is required",
		"steps[1].instruction must be a string, not a number",
		"steps[1].colour is not a known field; there are acceptance_criteria, allowed_tools, commands",
		"goal is required",
		`steps[2].repo there is no project "cellar"`,
	}
	if len(problems) != len(want) {
		t.Errorf("%d problems, want %d", len(problems), len(want))
	}
	for i, p := range problems {
		if i >= len(want) || !strings.HasPrefix(p, want[i]) {
			t.Errorf("problem %d: %s", i, p)
		}
	}
}

func TestAStepIsATaskWithDefaults(t *testing.T) {
	t.Parallel()
	task := newTask("t", "r", "house", choir.PlanStep{Kind: choir.TaskRun, Instruction: "i"})
	if task.Repo != "house" || task.TimeBudgetS != choir.DefaultTimeBudgetS || !task.Return.Diff {
		t.Errorf("task %+v", task)
	}
	task = newTask("t", "r", "house", choir.PlanStep{Repo: "garden", TimeBudgetS: 5})
	if task.Repo != "garden" || task.TimeBudgetS != 5 {
		t.Errorf("task %+v", task)
	}
}

func TestStepsComeAfterWhatTheyDependOn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "steps")
		in := make([]choir.PlanStep, n)
		for i := range in {
			in[i].ID = fmt.Sprint("s", i)
			for j := range n {
				if rapid.IntRange(0, 6).Draw(t, "edge") == 0 {
					in[i].DependsOn = append(in[i].DependsOn, fmt.Sprint("s", j))
				}
			}
		}
		out, problems := ordered(in, nil)
		if (len(problems) == 0) != (len(out) == n) {
			t.Fatalf("%d of %d steps and problems %q", len(out), n, problems)
		}
		done := map[string]bool{}
		for _, s := range out {
			for _, d := range s.DependsOn {
				if !done[d] {
					t.Fatalf("%s comes before %s", s.ID, d)
				}
			}
			done[s.ID] = true
		}
	})
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(steps(fmt.Sprintf(step, "a", ""))))
	f.Add([]byte(steps(fmt.Sprintf(step, "a", `,"depends_on":["b"]`), fmt.Sprintf(step, "b", ""))))
	f.Add([]byte(`{"goal":"g","steps":[{"id":"a","kind":"git"}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, problems := decodePlan(raw, "", []string{"house"}, nil)
		for _, problem := range problems {
			if strings.Index(problem, " ") < 1 {
				t.Errorf("a problem without a path: %q", problem)
			}
		}
		refused := &choir.PlanRefused{Problems: problems}
		if len(problems) > 0 {
			mustDecode(t, refused, &choir.PlanRefused{})
			return
		}
		// What holds is a fixed point: it can be stored, read and checked again.
		again := mustDecode(t, &p, &choir.PlanMade{})
		if _, problems := decodePlan(again, "", []string{"house"}, nil); len(problems) > 0 {
			t.Errorf("a plan that held does not hold: %q", problems)
		}
		for _, s := range p.Steps {
			task := newTask("019f0000-0000-7000-8000-000000000000", "019f0000-0000-7000-8000-000000000001", "", s)
			mustDecode(t, &choir.TaskDispatched{Task: task, Step: s.ID}, &choir.TaskDispatched{})
		}
	})
}

func mustDecode(t *testing.T, payload, into choir.Payload) json.RawMessage {
	t.Helper()
	raw, err := choir.Canonical(payload)
	if err == nil {
		err = choir.DecodeStrict(raw, into)
	}
	if err != nil {
		t.Fatalf("%s does not decode: %v", payload.EventType(), err)
	}
	if len(raw) > choir.InlineLimit {
		t.Fatalf("%s has %d bytes", payload.EventType(), len(raw))
	}
	return raw
}
