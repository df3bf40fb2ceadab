// Package sandbox is a part of the planted module.
package sandbox
