package api

import (
	"reflect"
	"testing"

	"choiros/internal/computer/collection"
	"choiros/internal/computer/desk"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/selfsource"
)

// Whoever reads the document knows a computer, and not the parts it is made of.
func TestTypesOfAComputersPartsAreNamedAfterTheComputer(t *testing.T) {
	t.Parallel()
	for want, of := range map[string]reflect.Type{
		"ComputerBroke":      reflect.TypeFor[*selfsource.Broke](),
		"ComputerSourceFile": reflect.TypeFor[selfsource.SourceFile](),
		"ComputerDesktop":    reflect.TypeFor[desk.Desktop](),
		"ComputerMark":       reflect.TypeFor[moments.Mark](),
		"ComputerCollected":  reflect.TypeFor[collection.Collected](),
	} {
		if got := schemaName(of, ""); got != want {
			t.Errorf("%s is named %s, want %s", of, got, want)
		}
	}
}
