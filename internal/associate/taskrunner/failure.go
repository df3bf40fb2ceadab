package taskrunner

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"choiros/internal/choir"
)

// failure is an error that ends the task with a failed result. Other errors end the job
// without a result.
type failure struct {
	code      choir.ResultCode
	summary   string
	conflicts []string // the paths that could not be merged
}

func (f *failure) Error() string { return string(f.code) + ": " + f.summary }

// fail returns a failure with a code and a formatted summary.
func fail(code choir.ResultCode, format string, args ...any) *failure {
	return &failure{code: code, summary: fmt.Sprintf(format, args...)}
}

// failed returns the failure that err means for the task, considering first why work was
// cancelled. It returns nil for nil, and for errors after which the task is executed
// again.
func (j *job) failed(work context.Context, err error) *failure {
	var f *failure
	switch cause := context.Cause(work); {
	case err == nil:
		return nil
	case errors.Is(cause, errBudget):
		return fail(choir.ResultTimeBudget, "the task did not end within its time budget of %d s; every process it started was stopped", timeBudget(&j.task))
	case errors.Is(cause, errWaited):
		return fail(choir.ResultTimeBudget, "the model's answers took more than %d s in all", choir.ModelWaitS)
	case errors.Is(cause, ErrCancelled):
		return fail(choir.ResultCancelled, "the task was stopped by a person")
	case cause != nil:
		return nil // the process ends; the task is taken up again
	case errors.As(err, &f):
		return f
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fail(choir.ResultDiskFull, "the disk is full: %v", err)
	}
	switch choir.CodeOf(err) {
	case choir.CodeNoSpace:
		return fail(choir.ResultDiskFull, "%v", err)
	case choir.CodeBusy:
		return fail(choir.ResultLimit, "a limit of the sandbox was reached: %v", err)
	case choir.CodeBudget:
		return fail(choir.ResultTokenBudget, "%v", err)
	case choir.CodeProvider, choir.CodeOverloaded, choir.CodeUnmatched, choir.CodeTooLarge:
		return fail(choir.ResultModelError, "the model could not be called: %v", err)
	}
	if j.place.isLost() {
		return fail(choir.ResultCrashed, "the process that runs the task's commands was killed")
	}
	return nil
}
