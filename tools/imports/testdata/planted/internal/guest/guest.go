// Package guest is a part of the planted module.
package guest
