package main

import (
	"strings"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/names"
)

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
				return choir.Refuse("", choir.ReasonArgumentTooMany, choir.TextOf("command", c.CommandPath()), choir.TextOf("most", atMost(languageOf(c), most)), choir.TextOf("given", args[most]), choir.TextOf("usage", c.UseLine()))
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
	meanings := c.Annotations // by describe
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

// atMost describes up to n arguments for people, in a language.
func atMost(l names.Language, n int) string {
	switch n {
	case 0:
		return sentenceIn(l, "arguments.none")
	case 1:
		return sentenceIn(l, "arguments.one")
	}
	return sentenceIn(l, "arguments.most", "n", n)
}
