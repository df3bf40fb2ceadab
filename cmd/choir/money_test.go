package main

import (
	"fmt"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model/wiretest"
)

// inspect is a task in which the Associate asks its model once.
const inspect = `{"kind":"inspect","instruction":"look","verify_profile":{"mode":"none"}}`

// bank connects a machine to a model service of our own that bills what it
// generates: a tenth of a cent for each token of output.
func (m *machine) bank(b *wiretest.Biller, limits string) {
	m.t.Helper()
	m.env = append(m.env, "BANK_KEY=sk-test-0123456789")
	m.configure(fmt.Sprintf(`
[limits]
%s
[models]
director = "bank/billed"
associate = "bank/billed"
[[models.provider]]
name = "bank"
kind = "anthropic"
base_url = %q
key_env = "BANK_KEY"
[[models.price]]
model = "billed"
output = 1000
`, limits, b.URL))
}

// modelEnds lists what the log says of the ends of model calls.
func (c *client) modelEnds(t *testing.T) (ends []choir.ModelReturned, called int) {
	t.Helper()
	for _, e := range c.log(t) {
		p, err := choir.DecodePayload(e.Type, e.Payload)
		if err != nil {
			t.Fatal(err)
		}
		switch p := p.(type) {
		case *choir.ModelCalled:
			called++
		case *choir.ModelReturned:
			ends = append(ends, *p)
		}
	}
	return ends, called
}

// TestALimitOnCostHoldsOverRestartsAndKills: one call is answered and one is
// killed with the control plane; the sum of both reaches the limit, and it stays
// reached however often choir is started.
func TestALimitOnCostHoldsOverRestartsAndKills(t *testing.T) {
	b := wiretest.NewBiller(20)
	t.Cleanup(b.Close)
	m := newMachine(t, "")
	// One call reserves 8192 tokens, or 8.19 dollars, and is billed 0.06.
	m.bank(b, "run_cost_usd = 0\ncost_usd = 9\n")
	r := m.up()
	r.healthy()
	if res := m.runWith(inspect, "task", "-"); res.code != 0 {
		t.Fatalf("the first task: %+v", res)
	}
	b.Pace = make(chan struct{})
	done := make(chan ran, 1)
	go func() { done <- m.runWith(inspect, "task", "-") }()
	m.eventually("the second call", func() error {
		if b.Asked() < 2 {
			return fmt.Errorf("asked %d times", b.Asked())
		}
		return nil
	})
	b.Pace <- struct{}{}
	r.kill()
	<-done // the command lost its choir
	for range 2 {
		r = m.up()
		r.healthy()
		c := m.client()
		res := m.runWith(inspect, "task", "-")
		if res.code == 0 || !strings.Contains(res.out+res.errOut, "limits.cost_usd") {
			t.Errorf("a task beyond the limit: %+v", res)
		}
		ends, called := c.modelEnds(t)
		if b.Asked() != 2 || called != 2 || len(ends) != 2 || ends[0].Estimated || !ends[1].Estimated {
			t.Errorf("asked %d times; %d calls in the log, with the ends %+v", b.Asked(), called, ends)
			break
		}
		var billed int64
		for _, bill := range b.Bills() {
			billed += bill.Output
		}
		if sum := ends[0].CostUSD + ends[1].CostUSD; ends[0].CostUSD != 0.06 || sum < float64(billed)/1000 || sum > 0.06+8.2 {
			t.Errorf("billed %d tokens, the log says %v dollars", billed, sum)
		}
		r.kill()
	}
}

// TestAModelWithoutAPriceIsNamedAtTheStartAndByDoctor: and its calls are
// refused.
func TestAModelWithoutAPriceIsNamedAtTheStartAndByDoctor(t *testing.T) {
	b := wiretest.NewBiller(20)
	t.Cleanup(b.Close)
	m := newMachine(t, "")
	m.bank(b, "")
	raw := m.config()
	m.write(strings.ReplaceAll(raw, `model = "billed"`, `model = "another"`))
	doctor := m.must("doctor")
	if !strings.Contains(doctor, "price of billed") || !strings.Contains(doctor, "[[models.price]]") || !strings.Contains(doctor, "limits.desktop_cost_usd") {
		t.Errorf("doctor says %s", doctor)
	}
	r := m.up()
	r.healthy()
	res := m.runWith(inspect, "task", "-")
	if res.code == 0 || !strings.Contains(res.out, "models.price") || b.Asked() != 0 {
		t.Errorf("asked %d times; the task: %+v", b.Asked(), res)
	}
	r.stop()
	m.write(strings.ReplaceAll(m.config(), "kind = \"anthropic\"\n", "kind = \"anthropic\"\nfree = true\n"))
	m.up().healthy()
	if res := m.runWith(inspect, "task", "-"); res.code != 0 {
		t.Errorf("with free = true: %+v", res)
	}
}
