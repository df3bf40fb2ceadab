// Package desktop decides what a desktop's origin serves: the bundle that choir
// was built with while the computer's own source is as it came, and once it was
// changed a development server that runs on it inside the Associate's sandbox.
package desktop
