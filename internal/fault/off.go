//go:build !faultpoints

package fault

// Point is nothing in this build.
func Point(string) {}
