# Tries disk limits on ext4 and XFS.
mount -t cgroup2 cgroup2 /sys/fs/cgroup
run "diskquota" /vm/tests/diskquota.test -test.v -test.timeout 10m
run "a computer with a disk limit" /vm/tests/computer.test -test.v -test.timeout 20m -test.run '^TestDiskLimit'
run "a control plane with disk limits" /vm/tests/supervisor.test -test.v -test.timeout 20m -test.run '^TestDiskLimit'
