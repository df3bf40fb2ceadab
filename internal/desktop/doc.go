// Package desktop decides what a desktop's origin serves: the shipped bundle while the
// computer's source is unchanged, else a development server that runs on the changed source
// inside the Associate's sandbox.
package desktop
