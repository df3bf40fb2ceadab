#!/bin/sh
# Tries the ports of a machine's vsock on a kernel that connects one to itself.
run "the streams of a vsock" /vm/tests/machine.test -test.v -test.timeout 5m -test.run '^TestStreamsByVsock$'
