// Package terminals keeps the terminals of one computer: a program behind each, the
// newest of its output, and the browsers that look on. A terminal belongs to the
// computer: it goes on without a browser, and any number of them share it.
//
// The size follows the browser that was last used, as in tmux: it leads, and the others
// show what fits it. Only the leader's browser answers what programs ask of a terminal,
// so that nothing is answered twice.
//
// A browser acknowledges output. A browser that is too far behind holds the program up,
// so that a flood needs no memory; after too long it is cut off, and can come back with
// its offset.
package terminals
