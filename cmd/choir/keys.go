package main

import (
	"context"
	"os"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/api"
)

// keyState says where a provider's key is and whether it can be read now. The
// key itself goes no further than this function.
func (a *app) keyState(p config.Provider) api.ModelKey {
	source := a.keySource(p)
	if source == nil {
		return api.ModelKey{Kind: "none", Present: true}
	}
	state := api.ModelKey{Kind: "variable", Where: p.KeyEnv}
	if p.KeyFile != "" {
		state = api.ModelKey{Kind: "file", Where: p.KeyFile}
		if info, err := os.Stat(p.KeyFile); err == nil {
			state.SetAt = choir.TimeOf(info.ModTime())
		}
	}
	key, err := source(context.Background())
	if err == nil && key == "" {
		err = choir.E("models.key", choir.CodeUnavailable, "the key file of provider %s is empty", p.Name)
	}
	if err != nil {
		problem := choir.ProblemOf(err)
		state.Problem, state.Remedy = problem.Message, problem.Remedy
		return state
	}
	state.Present = true
	return state
}
