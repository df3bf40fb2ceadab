// Package snapshot keeps exact trees: path bytes, kind, content, permission
// bits, link target, empty folders and modification times. A folder is written
// as a manifest (docs/FORMAT.md, "Snapshots"), manifests and file contents are
// named by their SHA-256, and the digest of the root's manifest names the
// whole tree.
//
// The package is pure of policy and shared by both sides: the guest scans and
// restores (Scanner), the control plane checks and stores (Keeper), and either
// compares (Diff, Walk). What comes from a guest is never trusted.
package snapshot
