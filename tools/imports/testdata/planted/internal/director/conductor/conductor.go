// Package conductor is planted: it rolls dice.
package conductor

import dice "math/rand/v2"

// Roll is planted.
func Roll() int { return dice.IntN(6) }
