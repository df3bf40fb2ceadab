// Package hub is a part of the planted module.
package hub
