// Package timeline is what can be said and done about moments without a computer
// that runs: sentences about events, and the three-way merge of trees behind
// undo and take. It is pure but for the store of snapshots it is given.
package timeline
