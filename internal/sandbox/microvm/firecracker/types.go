package firecracker

// The requests of Firecracker's API that are made here, with its own names of fields.

// MachineConfig is the body of PUT /machine-config.
type MachineConfig struct {
	VCPUs     int   `json:"vcpu_count"`
	MemoryMiB int64 `json:"mem_size_mib"`
}

// BootSource is the body of PUT /boot-source.
type BootSource struct {
	Kernel  string `json:"kernel_image_path"`
	Initrd  string `json:"initrd_path,omitempty"`
	Command string `json:"boot_args"`
}

// Drive is the body of PUT /drives/{drive_id}.
type Drive struct {
	ID       string `json:"drive_id"`
	Path     string `json:"path_on_host"`
	ReadOnly bool   `json:"is_read_only"`
	Root     bool   `json:"is_root_device"`
}

// Vsock is the body of PUT /vsock.
type Vsock struct {
	CID  int    `json:"guest_cid"` // of the machine, at least 3
	Path string `json:"uds_path"`
}

// Action names a thing that PUT /actions does.
type Action string

// The actions.
const (
	InstanceStart  Action = "InstanceStart"
	SendCtrlAltDel Action = "SendCtrlAltDel"
)

// InstanceInfo is the answer to GET /.
type InstanceInfo struct {
	ID      string `json:"id"`
	State   string `json:"state"` // Not started, Running or Paused
	Version string `json:"vmm_version"`
}
