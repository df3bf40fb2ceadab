// Package director holds what runs in the Director's sandbox: the conductor,
// which conducts runs, and the runwriter, which tells each run's story. Its
// tests play the scripted runs of testdata/runs.
package director
