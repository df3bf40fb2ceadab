package sandbox

// MemoryBound is implemented by sandboxes that know whether they had memory enough.
type MemoryBound interface {
	// RanOutOfMemory reports, once the sandbox has ended, whether the kernel of the host ended
	// processes of the sandbox because it took more memory than its limit. It is false for a sandbox
	// that ran until Destroy.
	RanOutOfMemory() bool
}
