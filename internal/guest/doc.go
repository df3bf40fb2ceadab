// Package guest is the control protocol between the control plane and
// choir-init inside a sandbox, both ends: exec, roles, files, ports, snapshots.
//
// One connection carries one operation: a header frame from the client, then
// what the operation exchanges, then a reply or an error. The server is the
// machine inside and does not trust who else is in there; the client is the
// control plane and trusts nothing that comes back.
package guest
