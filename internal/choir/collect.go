package choir

import "iter"

// Collect returns the first most values of a sequence, or all if most is 0. At the first
// error it stops and returns the values before it with the error.
func Collect[V any](seq iter.Seq2[V, error], most int) ([]V, error) {
	var out []V
	for v, err := range seq {
		if err != nil {
			return out, err
		}
		if out = append(out, v); len(out) == most {
			break
		}
	}
	return out, nil
}
