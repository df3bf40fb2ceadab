#!/usr/bin/env python3
"""Makes tasks of choir eval out of real bugs that were fixed: the project before the fix, an issue's words, and
the fix's own test as the hidden check. docs/EVAL.md has what came of them.

  real.py CLONES FOLDER [NAME]   CLONES has a clone or bare clone of each repository, as OWNER__NAME
"""

import json
import os
import shutil
import subprocess
import sys

CLONES, FOLDER = (os.path.abspath(p) for p in sys.argv[1:3])


def git(repo, *args):
    return subprocess.run(["git", "-C", f"{CLONES}/{repo}", *args], check=True, capture_output=True).stdout


# name, repository, commit of the fix, files of its test, language, hidden check, prompt
TASKS = [
("go-toml-comma", "BurntSushi__toml","d10101f",["encode_test.go"],"go","go test -vet=off -count=1 -run 'TestEncode' .",
"""Encoding a struct with a nested array of arrays of a struct that ends with a map gives invalid TOML: the comma between the fields is missing and there is one too many after the last.

    type IntAndMap struct { I int; M map[string]int }
    toml.Marshal(struct{ A [][]IntAndMap }{[][]IntAndMap{{{I: 1, M: map[string]int{"c": 2}}}}})

gives

    A = [[{I = 1M = {c = 2}, }]]

and it should be

    A = [[{I = 1, M = {c = 2}}]]

Please fix it, with a test."""),
("go-semver-overflow", "Masterminds__semver","b65b33f",["version_test.go"],"go","go test -vet=off -count=1 .",
"""IncPatch, IncMinor and IncMajor wrap around silently when the number they increment is already math.MaxUint64: the next version of 1.2.18446744073709551615 is 1.2.0. They should panic instead of returning a version that is lower than the one it was made from. Please fix, with tests."""),
("py-boltons-slice", "mahmoud__boltons","609cabe",["tests/test_setutils.py"],"python","python3 -m pytest -q tests/test_setutils.py",
"""IndexedSet slices are wrong after something was removed:

    >>> x = IndexedSet(range(10))
    >>> x.pop(2)
    2
    >>> list(x[1:4])
    [1, 3, 4, 5]

I expect [1, 3, 4]. x[-3:] and x[2:-1] give too many as well. A set with removals should slice exactly as a fresh IndexedSet with the same contents does, for every start, stop and step (the way negative steps work today in a fresh set stays), and for positive steps as a list does. Please fix it, with a test."""),
("py-boltons-copy", "mahmoud__boltons","ebc7a8f",["tests/test_dictutils.py"],"python","python3 -m pytest -q tests/test_dictutils.py",
"""copy.copy and copy.deepcopy of an OrderedMultiDict lose values: of a key with several values only one is left, so copy.deepcopy(omd) != omd. Pickling is right and has to stay so, with every protocol. Please fix this and add a test."""),
("py-sqlparse-as", "andialbrecht__sqlparse","111b35c",["tests/test_grouping.py"],"python","python3 -m pytest -q tests/test_grouping.py",
"""Functions are not grouped in a CREATE TABLE ... AS SELECT when `as` is written in lower case. With

    create table foo as select count(x) from bar

count(x) comes out as an Identifier and a Parenthesis; with AS in capitals it is a Function, as it should be in both. Please fix, with a test."""),
("js-picomatch-branches", "micromatch__picomatch","6289307",["test/options.maxExtglobRecursion.js"],"javascript","mocha --reporter dot test/options.maxExtglobRecursion.js",
"""Repeated extglobs with several branches match too little:

    picomatch.isMatch('b',  '+(*(a)|*(b))')   // false, expected true
    picomatch.isMatch('ab', '+(*(a)|*(b))')   // false, expected true
    picomatch.isMatch('c',  '*(*(a)|c)')      // false, expected true

makeRe('+(*(a)|*(b))') compiles to (?=.)a*: only the first branch is left when a risky repeated extglob is rewritten. Keep all branches where they are single characters, in one character class ([ab]*) so that it stays safe from catastrophic backtracking, and fall back to the literal as now where a branch cannot be reduced. Please fix, with tests."""),
("js-picomatch-negation", "micromatch__picomatch","ac3cb66",["test/extglobs.js"],"javascript","mocha --reporter dot test/extglobs.js",
"""A negated extglob with a star does not work when an expression that is not plain text follows its closing parenthesis. '/!(*.d).ts' does not match '/file.d.ts', which is right, but '/!(*.d).{ts,tsx}' and '/!(*.d).@(ts)' do match '/file.d.ts'. They should not, and they should go on matching '/file.ts', '/file.something.ts', '/file.d.something.ts' and '/file.dhello.ts'. Please fix, with tests."""),
("c-inih-novalue", "benhoyt__inih","498f34b",["tests/unittest.c","tests/name_only_after_error.ini"],"c","cd tests && gcc -Wall -DINI_ALLOW_NO_VALUE=1 ../ini.c unittest.c -o $TMPDIR/u && $TMPDIR/u > $TMPDIR/out && cmp $TMPDIR/out hidden_allow_no_value.txt && gcc -Wall ../ini.c unittest.c -o $TMPDIR/u && $TMPDIR/u > $TMPDIR/out && cmp $TMPDIR/out hidden_multi.txt",
"""With INI_ALLOW_NO_VALUE=1 a name without a value is no longer handed to the handler once there was an error in a line before it (INI_STOP_ON_FIRST_ERROR is off):

    [broken

    name

The handler should get `name` with a NULL value, as it does when there is no error before. Names with values are still handed over after an error. Please fix it and extend the tests."""),
("c-inih-comment", "benhoyt__inih","bd798c5",["tests/multi_line.ini"],"c","cd tests && for o in '' -DINI_ALLOW_MULTILINE=0 -DINI_ALLOW_INLINE_COMMENTS=0 -DINI_USE_STACK=0; do gcc -Wall $o ../ini.c unittest.c -o $TMPDIR/u && $TMPDIR/u > $TMPDIR/out || exit 1; n=hidden_multi.txt; case $o in *MULTILINE=0) n=hidden_single.txt;; *COMMENTS=0) n=hidden_disallow_inline_comments.txt;; *STACK=0) n=hidden_heap.txt;; esac; cmp $TMPDIR/out $n || exit 1; done",
"""Inline comments on the later lines of a value of several lines become part of the value:

    foo = bar ;c1
          Hi World ;c2

gives foo=bar and then foo="Hi World ;c2". Python's ConfigParser, which inih follows, strips both comments. With INI_ALLOW_INLINE_COMMENTS=0 they stay, as on the first line. Please fix it and extend the tests."""),
]

# What inih's unittest prints, compared under other names: a task regenerates the project's own.
BASELINES = ["allow_no_value", "multi", "single", "disallow_inline_comments", "heap"]


def put(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(content)


for name, repo, fix, tests, language, check, prompt in TASKS:
    if sys.argv[3:] and name not in sys.argv[3:]:
        continue
    folder = f"{FOLDER}/{name}"
    shutil.rmtree(folder, ignore_errors=True)
    for path in tests:
        put(f"{folder}/check/{path}", git(repo, "show", f"{fix}:{path}"))
    if repo.endswith("__inih"):
        for b in BASELINES:
            put(f"{folder}/check/tests/hidden_{b}.txt", git(repo, "show", f"{fix}:tests/baseline_{b}.txt"))
    base = git(repo, "rev-parse", fix + "^").decode().strip()
    keys = {"language": language, "clone": f"{CLONES}/{repo}", "commit": base, "check": check, "prompt": prompt}
    put(f"{folder}/task.toml", "".join(f"{k} = {json.dumps(v)}\n" for k, v in keys.items()).encode())
    print(folder)
