// Scripted serves a scripted model in Anthropic's wire format on a loopback
// port, until it is interrupted. It prints the address; see package wiretest for
// the script's form. Of a folder of tasks (choir eval) it plays a model that solves them
// by their reference solutions. Tests of the whole system and new recordings use it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"choiros/internal/eval/evaltest"
	"choiros/internal/model/wiretest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: scripted SCRIPT.json, or scripted FOLDER with tasks of choir eval")
		os.Exit(2)
	}
	load := wiretest.LoadScript
	if evaltest.IsSet(os.Args[1]) {
		load = evaltest.SolveAll
	}
	script, err := load(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "scripted:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := wiretest.NewScripted(script)
	defer s.Close()
	fmt.Println(s.URL)
	<-ctx.Done()
	for _, u := range s.Unmatched() {
		fmt.Fprintln(os.Stderr, "no rule for:", u)
	}
}
