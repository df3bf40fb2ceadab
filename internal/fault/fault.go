// Package fault names the durable boundaries of choir: each sync, rename,
// commit, publish and ref update passes one Point. In an ordinary build a point
// is nothing. Built with the tag faultpoints, a process follows a plan that is
// given to it: it kills itself or stands still at the n-th passing of a point,
// or writes down what it passes. tools/crashmatrix is made of such plans.
package fault
