package supervisor

import (
	"strings"
	"testing"

	"choiros/internal/sandbox"
)

func TestTheDoctorSaysWhereTasksWorkThatTheOwnerApproves(t *testing.T) {
	t.Parallel()
	if c := approvalCheck(sandbox.Level{Tasks: "Landlock"}); !c.OK || !strings.Contains(c.Detail, "works in a copy") {
		t.Errorf("%+v", c)
	}
	if c := approvalCheck(sandbox.Level{}); c.OK || !strings.Contains(c.Detail, "works in the workspace") {
		t.Errorf("%+v", c)
	}
}
