package verify

import (
	"maps"
	"slices"
	"strings"
)

// Tally counts the outcomes of tests.
type Tally struct{ Passed, Failed, Skipped int }

// Ran returns the number of tests that were executed.
func (t Tally) Ran() int { return t.Passed + t.Failed }

// add adds the counts of another tally.
func (t *Tally) add(o Tally) {
	t.Passed += o.Passed
	t.Failed += o.Failed
	t.Skipped += o.Skipped
}

// Report holds the tests that the output of a check tells of.
type Report struct {
	Known bool             // the output says how many tests ran
	Total Tally            // all tests
	Tests map[string]Tally // the named ones, by name
}

// note records the outcome of one named test.
func (r *Report) note(name string, t Tally) {
	if r.Tests == nil {
		r.Tests = map[string]Tally{}
	}
	all := r.Tests[name]
	all.add(t)
	r.Tests[name] = all
}

// total makes the sum of the named tests the total.
func (r *Report) total() {
	r.Total = Tally{}
	for _, t := range r.Tests {
		r.Total.add(t)
	}
}

// failing returns the sorted names of the tests that failed.
func (r Report) failing() []string {
	return r.names(func(t Tally) bool { return t.Failed > 0 })
}

// names returns the sorted names of the tests whose tally want accepts.
func (r Report) names(want func(Tally) bool) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(r.Tests)) {
		if want(r.Tests[name]) {
			found = append(found, name)
		}
	}
	return found
}

// without returns the names that are not in drop.
func without(names, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(drop, n) })
}

// few returns up to five of the names, and the number of the others.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + number(len(names)-most) + " more"
}
