package taskrunner

import (
	"context"
	"fmt"
	"strings"

	"choiros/internal/choir"
)

// toldTokens is the largest token budget that the model is told exactly. A larger one does
// not narrow a task, and follows from what the run has left.
const toldTokens = 200_000

// maxBegan limits the files of a former attempt that the model is told.
const maxBegan = 40

// conditions returns what the model is told about its task beside the goal: how it is
// verified, its limits, and what the network allows. It has no ids, times or folders.
func (d *dialogue) conditions(ctx context.Context) string {
	var b strings.Builder
	if len(d.began) > 0 {
		b.WriteString("You go on from a task that failed. What it changed is there, and is part of your change:\n")
		for _, f := range first(d.began, maxBegan) {
			name, _ := strings.CutPrefix(f.Path, "workspace/"+d.task.Repo+"/")
			fmt.Fprintf(&b, "- %s %s\n", f.Change, name)
		}
		if more := len(d.began) - maxBegan; more > 0 {
			fmt.Fprintf(&b, "- and %s more\n", count(more, "file"))
		}
	}
	if checks := d.announced(ctx); checks != "" {
		fmt.Fprintf(&b, "When you are done, it is verified:%s\n", checks)
		if d.task.Kind == choir.TaskEditRepo {
			fmt.Fprintf(&b, "A check that fails comes back to you with its log, %d times at most; then the task fails and everything is taken back.\n", choir.VerifyRounds)
		}
	}
	fmt.Fprintf(&b, "You have %d model calls, %s for commands and checks, %s for your answers", d.maxSteps, seconds(timeBudget(d.task)), seconds(choir.ModelWaitS))
	switch budget := d.task.TokenBudget; {
	case budget > toldTokens:
		fmt.Fprintf(&b, " and more than %d tokens", toldTokens)
	case budget > 0:
		fmt.Fprintf(&b, " and %d tokens", budget)
	}
	// Whether the kernel holds it or not: a conversation is not to depend on the machine.
	if d.task.Repo != "" && d.task.Kind != choir.TaskInspect {
		b.WriteString(".\nCommands may write in the task's folder and in $TMPDIR only, not in /tmp")
	}
	if d.place.online {
		b.WriteString(".\nThe network reaches a few hosts only, such as package registries: a refused host is said. Prefer what is in the workspace and on this machine.")
		return b.String()
	}
	b.WriteString(".\nThere is no network: nothing outside can be reached or downloaded. Use what is in the workspace and on this machine.")
	return b.String()
}

// list returns lines as a list that begins on a line of its own.
func list(lines []string) string { return "\n- " + strings.Join(lines, "\n- ") }

// seconds returns a number of seconds in words.
func seconds(n int) string { return itoa(int64(n)) + " s" }
