package sandbox

import "choiros/internal/choir"

// Verdict is the state of a sandbox according to the error of Recover.
type Verdict string

// The verdicts.
const (
	// Found: it lives, and the caller has it.
	Found Verdict = "found"
	// Gone: it has ended and nothing of it is left, so that another may be made.
	Gone Verdict = "gone"
	// NotMine: the handle is of another driver, or of another version of this one. The
	// sandbox may live, and asking again changes nothing.
	NotMine Verdict = "not mine"
	// Unknown: whether it lives could not be found out. It may, and the caller asks again.
	Unknown Verdict = "unknown"
)

// VerdictOf converts the error of Recover to a verdict: nil is Found, code not_found
// Gone, code invalid NotMine, any other error Unknown.
func VerdictOf(err error) Verdict {
	switch {
	case err == nil:
		return Found
	case choir.CodeOf(err) == choir.CodeNotFound:
		return Gone
	case choir.CodeOf(err) == choir.CodeInvalid:
		return NotMine
	}
	return Unknown
}
