// Package fake is a sandbox driver for tests of what uses sandboxes. It isolates
// nothing and starts no process: choir-init's server runs in the process of the test,
// over a folder of the test, and the programs of a sandbox are functions that the test
// gives by name. What is asked for and not in that table is refused as unsupported, so
// no command that was meant for a sandbox ever runs on the host.
//
// It keeps the driver contract: it passes the cases of sandboxtest that demand no more
// than that, and its Level names no protection. It has no host user, no namespaces, no
// limits, no ports, no signals that stop a program, and nothing of it outlives the test
// process. Tests of isolation, of processes and of crashes use package local.
//
// tools/imports refuses the package outside of tests, and NewMachine wants a
// testing.TB and panics in a program that is no test.
package fake
