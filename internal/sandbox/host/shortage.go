package host

import (
	"errors"
	"strings"

	"choiros/internal/choir"

	"golang.org/x/sys/unix"
)

// shortages are the signs that the machine lacked something while a sandbox was made: the
// errors of this process, and the words of programs that ended for it, in small letters. The
// words of the Go runtime stand first, because it ends with "out of memory" in other cases too.
var shortages = []struct {
	reason choir.Reason
	errors []error
	words  []string
}{
	{choir.ReasonHostNoProcesses, []error{unix.EAGAIN}, []string{"resource temporarily unavailable", "failed to create new os thread"}},
	{choir.ReasonHostNoFiles, []error{unix.EMFILE, unix.ENFILE}, []string{"too many open files"}},
	{choir.ReasonHostNoSpace, []error{unix.ENOSPC, unix.EDQUOT}, []string{"no space left on device", "disk quota exceeded"}},
	{choir.ReasonHostNoMemory, []error{unix.ENOMEM}, []string{"cannot allocate memory", "out of memory"}},
}

// NameShortage returns the error of a creation with the reason of a shortage as its reason, if
// the error or the output of programs in it shows one, and err itself otherwise.
func NameShortage(op string, err error) error {
	if err == nil {
		return nil
	}
	said := strings.ToLower(err.Error())
	for _, s := range shortages {
		for _, e := range s.errors {
			if errors.Is(err, e) {
				return shortageOf(op, s.reason, err)
			}
		}
		for _, words := range s.words {
			if strings.Contains(said, words) {
				return shortageOf(op, s.reason, err)
			}
		}
	}
	return err
}

func shortageOf(op string, reason choir.Reason, err error) error {
	e := choir.Refuse(op, reason)
	e.Err = err
	return e
}
