// Package director contains the program of the Director's sandbox: the conductor, which
// executes runs, and the runwriter, which writes each run's document. Its tests play the
// scripted runs of testdata/runs.
package director
