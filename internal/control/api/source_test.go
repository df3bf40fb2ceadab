package api

import (
	"encoding/json"
	"testing"

	"choiros/internal/computer/selfsource"
	"choiros/internal/computer/treemerge"
)

func TestAnUpgradeSaysHowManyTerminalsItEnds(t *testing.T) {
	t.Parallel()
	for terminals, want := range map[int]string{
		0: `{"files":[],"dry_run":true}`,
		2: `{"files":[],"dry_run":true,"terminals":2}`,
	} {
		said, err := json.Marshal(viewUpgrade(selfsource.Upgraded{Applied: treemerge.Applied{Terminals: terminals}}, true))
		if err != nil || string(said) != want {
			t.Errorf("%s %v, want %s", said, err, want)
		}
	}
}
