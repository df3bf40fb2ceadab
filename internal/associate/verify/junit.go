package verify

import (
	"encoding/xml"
	"os"
	"strings"
)

// junitCase is a test in a report in JUnit's form, as pytest writes it.
type junitCase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	Failure *struct{} `xml:"failure"`
	Error   *struct{} `xml:"error"`
	Skipped *struct{} `xml:"skipped"`
}

// junit reads a report in JUnit's form. Without one it returns a report that is not Known.
func junit(file string) Report {
	raw, err := os.ReadFile(file)
	if err != nil {
		return Report{}
	}
	var doc struct {
		Suites []struct {
			Cases []junitCase `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if xml.Unmarshal(raw, &doc) != nil {
		return Report{}
	}
	r := Report{Known: true}
	for _, s := range doc.Suites {
		for _, c := range s.Cases {
			r.note(c.id(), c.tally())
		}
	}
	r.total()
	return r
}

// id returns the name of a test without its parameters, which may differ from run to run.
func (c junitCase) id() string {
	name, _, _ := strings.Cut(c.Name, "[")
	if c.Class == "" {
		return name
	}
	return c.Class + "." + name
}

func (c junitCase) tally() Tally {
	switch {
	case c.Failure != nil || c.Error != nil:
		return Tally{Failed: 1}
	case c.Skipped != nil:
		return Tally{Skipped: 1}
	}
	return Tally{Passed: 1}
}
