// Package choir is the vocabulary of the Automatic Computer: identifiers,
// events and their payloads, tasks and results, roles and errors.
//
// It imports only the standard library and does no I/O. Every other package may
// import it. JSON Schema, TypeScript and docs/CONTRACTS.md are generated from
// the types declared here (see tools/contracts).
package choir
