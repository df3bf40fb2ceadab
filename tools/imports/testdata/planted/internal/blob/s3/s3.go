// Package s3 is innocent.
package s3
