// Package model is innocent.
package model
