#!/usr/bin/env node
// Packs lines: --fast leaves out the sorting.
const lines = require('fs').readFileSync(0, 'utf8').split('\n').filter(Boolean);
const fast = process.argv.includes('--fast');
console.log((fast ? lines : lines.toSorted()).join('|'));
