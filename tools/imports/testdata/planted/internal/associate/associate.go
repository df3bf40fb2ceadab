// Package associate is innocent.
package associate
