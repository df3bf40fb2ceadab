package choir

import "iter"

// Collect gathers what a sequence yields, most values at most, or all when most is
// 0. With an error, which ends it, it returns what came before.
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
