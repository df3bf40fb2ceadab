// Command program stands in for Firecracker and, under the name of it, for the jailer.
package main

import (
	"os"

	"choiros/internal/sandbox/microvm/firecrackertest"
)

func main() { os.Exit(firecrackertest.Main(os.Args)) }
