package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
)

// meanings describes each required argument, by the verb and the argument's name in its usage line.
var meanings = map[string]string{
	"prompt TEXT":         "what you ask for",
	"task FILE":           "the JSON file of the task, or - for standard input",
	"undo RUN|TASK|CALL":  "what is to be undone; choir timeline lists the ids",
	"approve TASK":        "the task whose result is to land; choir approvals lists them",
	"refuse TASK":         "the task whose result is refused; choir approvals lists them",
	"diff FROM":           "the number of the event to compare from; choir timeline lists them",
	"rewind EVENT":        "the number of the event to go back to; choir timeline lists them",
	"timeline show EVENT": "the number of the event to look at; choir timeline lists them",
	"timeline ls EVENT":   "the number of the event to look at; choir timeline lists them",
	"timeline cat EVENT":  "the number of the event to look at; choir timeline lists them",
	"timeline cat FILE":   "the path of the file to print; choir timeline ls lists them",
	"repo add PATH":       "the folder of the project, or the https address of its repository",
	"repo export NAME":    "the project; choir repo list lists them",
	"egress grant HOST":   "the host to let out, or HOST:PORT",
	"egress revoke HOST":  "the host whose grants end, or HOST:PORT; choir egress lists them",
	"egress deny HOST":    "the host that is asked for, or HOST:PORT; choir egress lists them",
	"egress mode MODE":    "what programs in the sandboxes reach: none, allowlist or git+pkg",
	"run pause ID":        "the run; choir run lists them",
	"run resume ID":       "the run; choir run lists them",
	"vault set NAME":      "what the entry is called",
	"vault remove NAME":   "the entry; choir vault list lists them",
	"trash restore ID":    "the item to move; choir trash lists them",
	"trash drop ID":       "the item to remove, or --all; choir trash lists them",
	"export FILE":         "the file to write, or - for standard output",
	"import FILE":         "the file that choir export wrote, or - for standard input",
	"bench NAME":          "what to measure, or several; choir bench --help lists them",
	"eval FOLDER":         "the folder of the tasks, or a file of instances",
	"fork --name":         "what the new computer is called",
	"image build --out":   "the file of the root file system",
	"take --from":         "the computer that the changes are in; choir computers lists them",
}

// checkArguments makes every verb below root check the number of its arguments by its usage line,
// and report a missing or surplus one, before its own checks.
func checkArguments(root *cobra.Command) {
	for _, c := range root.Commands() {
		checkArguments(c)
		check := c.Args
		c.Args = func(c *cobra.Command, args []string) error {
			required, most := argumentsOf(c)
			switch {
			case len(args) < len(required):
				return missing(c, required[len(args)])
			case most >= 0 && len(args) > most && !c.HasSubCommands():
				return choir.Refuse("", choir.ReasonArgumentTooMany, choir.TextOf("command", c.CommandPath()), choir.TextOf("most", atMost(most)), choir.TextOf("given", args[most]), choir.TextOf("usage", c.UseLine()))
			case check == nil:
				return nil
			}
			return check(c, args)
		}
	}
}

// argumentsOf returns the required arguments in a verb's usage line, and the largest number of
// arguments, -1 for any.
func argumentsOf(c *cobra.Command) (required []string, most int) {
	endless := false
	words := strings.Fields(c.Use)[1:]
	for i := 0; i < len(words); i++ {
		word := words[i]
		if strings.HasPrefix(word, "--") {
			i++ // the flag's value
			continue
		}
		name, many := strings.CutSuffix(strings.Trim(word, "[]"), "...")
		endless = endless || many
		if most++; !strings.HasPrefix(word, "[") {
			required = append(required, name)
		}
	}
	if endless {
		most = -1
	}
	return required, most
}

// missing returns the error for a verb without a required argument or flag.
func missing(c *cobra.Command, argument string) *choir.Error {
	_, verb, _ := strings.Cut(c.CommandPath(), " ")
	return choir.RefuseField(argument, choir.ReasonArgumentMissing, choir.TextOf("meaning", meanings[verb+" "+argument]), choir.TextOf("example", exampleOf(c)))
}

// exampleOf returns the first example of a verb in its own or its parent's help, else its usage line.
func exampleOf(c *cobra.Command) string {
	for from := c; from != nil; from = from.Parent() {
		for line := range strings.Lines(from.Example) {
			if at := strings.Index(line, c.CommandPath()+" "); at >= 0 {
				return strings.TrimSpace(line)
			}
		}
	}
	return c.UseLine()
}

// atMost describes up to n arguments for people.
func atMost(n int) string {
	switch n {
	case 0:
		return "no argument"
	case 1:
		return "one argument"
	}
	return fmt.Sprintf("%d arguments", n)
}
