package main

import (
	"context"
	"os"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/api"
)

// keyState returns where a provider's key is stored and whether it can be read now, without the key.
func (a *app) keyState(p config.Provider) api.ModelKey {
	source := a.keySource(p)
	if source == nil {
		return api.ModelKey{Kind: "none", Present: true}
	}
	state := api.ModelKey{Kind: "variable", Where: p.KeyEnv}
	switch {
	case p.Kept:
		d := a.readKeys().Describe(context.Background(), p.Name)
		state = api.ModelKey{Kind: "kept", Where: d.Where, SetAt: d.SetAt}
	case p.KeyFile != "":
		state = api.ModelKey{Kind: "file", Where: p.KeyFile}
		if info, err := os.Stat(p.KeyFile); err == nil {
			state.SetAt = choir.TimeOf(info.ModTime())
		}
	}
	if _, err := source(context.Background()); err != nil {
		problem := choir.ProblemOf(err)
		state.Problem, state.Remedy = problem.Message, problem.Remedy
		return state
	}
	state.Present = true
	return state
}
