// Package bus is a part of the planted module.
package bus
