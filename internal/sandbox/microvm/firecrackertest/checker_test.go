package firecrackertest

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTheCheckerRefuses makes requests that are right, and the same with one thing wrong.
func TestTheCheckerRefuses(t *testing.T) {
	t.Parallel()
	c, err := newChecker()
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]struct {
		method, path, body string
		right              bool
	}{
		"a machine":                        {"PUT", "/machine-config", `{"vcpu_count":2,"mem_size_mib":512}`, true},
		"a machine without memory":         {"PUT", "/machine-config", `{"vcpu_count":2}`, false},
		"a machine of 33 processors":       {"PUT", "/machine-config", `{"vcpu_count":33,"mem_size_mib":512}`, false},
		"a machine of text":                {"PUT", "/machine-config", `{"vcpu_count":"2","mem_size_mib":512}`, false},
		"a machine with an unknown field":  {"PUT", "/machine-config", `{"vcpu_count":2,"mem_size_mib":512,"ht_enabled":false}`, false},
		"a machine without a body":         {"PUT", "/machine-config", ``, false},
		"a body cut short":                 {"PUT", "/machine-config", `{"vcpu_count":2,"mem_size`, false},
		"a boot source":                    {"PUT", "/boot-source", `{"kernel_image_path":"k","boot_args":"quiet","initrd_path":"i"}`, true},
		"a boot source without a kernel":   {"PUT", "/boot-source", `{"boot_args":"quiet"}`, false},
		"a drive":                          {"PUT", "/drives/root", `{"drive_id":"root","path_on_host":"r","is_read_only":true,"is_root_device":false}`, true},
		"a drive that is not said a root":  {"PUT", "/drives/root", `{"drive_id":"root","path_on_host":"r","is_read_only":true}`, false},
		"a drive with a wrong rate":        {"PUT", "/drives/root", `{"drive_id":"root","path_on_host":"r","is_root_device":false,"rate_limiter":{"ops":{"size":-1,"refill_time":1}}}`, false},
		"a vsock":                          {"PUT", "/vsock", `{"guest_cid":3,"uds_path":"v.sock"}`, true},
		"a vsock of the host":              {"PUT", "/vsock", `{"guest_cid":2,"uds_path":"v.sock"}`, false},
		"an action":                        {"PUT", "/actions", `{"action_type":"InstanceStart"}`, true},
		"an action that there is not":      {"PUT", "/actions", `{"action_type":"InstanceHalt"}`, false},
		"a state":                          {"PATCH", "/vm", `{"state":"Paused"}`, true},
		"a state by the wrong method":      {"PUT", "/vm", `{"state":"Paused"}`, false},
		"a snapshot":                       {"PUT", "/snapshot/create", `{"snapshot_type":"Full","snapshot_path":"s","mem_file_path":"m"}`, true},
		"a snapshot without memory":        {"PUT", "/snapshot/create", `{"snapshot_type":"Full","snapshot_path":"s"}`, false},
		"a snapshot to load":               {"PUT", "/snapshot/load", `{"snapshot_path":"s","mem_backend":{"backend_type":"File","backend_path":"m"},"resume_vm":true}`, true},
		"a snapshot of an unknown backend": {"PUT", "/snapshot/load", `{"snapshot_path":"s","mem_backend":{"backend_type":"Tape","backend_path":"m"}}`, false},
		"a version":                        {"GET", "/version", ``, true},
		"a path that there is not":         {"GET", "/versions", ``, false},
	} {
		q := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
		q.Header.Set("Content-Type", "application/json")
		if err := c.check(q); (err == nil) != r.right {
			t.Errorf("%s: %v", name, err)
		}
	}
}
