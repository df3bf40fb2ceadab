// Package journal is innocent.
package journal
