// Command choir is innocent: it wires and reads the environment.
package main

import (
	"os"

	_ "planted/internal/blob/s3"
)

func main() { println(os.Getenv("HOME")) }
