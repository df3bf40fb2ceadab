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

// SnapshotTo is the body of PUT /snapshot/create.
type SnapshotTo struct {
	Type   string `json:"snapshot_type"`
	State  string `json:"snapshot_path"`
	Memory string `json:"mem_file_path"`
}

// SnapshotFrom is the body of PUT /snapshot/load.
type SnapshotFrom struct {
	State  string        `json:"snapshot_path"`
	Memory MemoryBackend `json:"mem_backend"`
	Resume bool          `json:"resume_vm"`
}

// MemoryBackend is where the memory of a snapshot is.
type MemoryBackend struct {
	Type string `json:"backend_type"`
	Path string `json:"backend_path"`
}

// SnapshotFull and MemoryFile are the kinds of snapshots and of memory that are used here.
const (
	SnapshotFull = "Full"
	MemoryFile   = "File"
)

// Action names a thing that PUT /actions does.
type Action string

// The actions.
const (
	InstanceStart  Action = "InstanceStart"
	SendCtrlAltDel Action = "SendCtrlAltDel"
)

// VMState names a state into which PATCH /vm brings a machine.
type VMState string

// The states.
const (
	Paused  VMState = "Paused"
	Resumed VMState = "Resumed"
)

// InstanceInfo is the answer to GET /.
type InstanceInfo struct {
	ID      string `json:"id"`
	State   string `json:"state"` // Not started, Running or Paused
	Version string `json:"vmm_version"`
}
