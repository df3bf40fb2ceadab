package choir_test

import (
	"errors"
	"testing"

	"choiros/internal/choir"
)

// FuzzDecodeStrictAll: it refuses what DecodeStrict refuses, the first mistake of which
// is among its own, and reads the rest alike.
func FuzzDecodeStrictAll(f *testing.F) {
	for _, seed := range []string{`{}`, `{"goal":"g","steps":[{"id":"a","kind":1,"x":{}}]}`, `{"goal":"g","steps":[`, `[]`, `{"goal":1,"goal":2,"steps":[]} x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var one, all choir.PlanMade
		err, errs := choir.DecodeStrict(raw, &one), choir.DecodeStrictAll(raw, &all)
		if (err == nil) != (len(errs) == 0) {
			t.Fatalf("one says %v, all say %v", err, errs)
		}
		for _, err := range errs {
			var e *choir.Error
			if !errors.As(err, &e) || e.Path == "" {
				t.Errorf("a mistake without a path: %v", err)
			}
		}
	})
}
