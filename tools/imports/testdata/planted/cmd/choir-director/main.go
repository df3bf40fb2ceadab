// Command choir-director is planted: it links the log.
package main

import _ "planted/internal/leaf"

func main() {}
