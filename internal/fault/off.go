//go:build !faultpoints

package fault

// Point is nothing in this build.
func Point(string) {}

// FollowFile does nothing in this build.
func FollowFile(string) error { return nil }
