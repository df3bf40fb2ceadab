// Package diskquota limits the disk space of a folder's files, by the project quotas of ext4
// and XFS. A project is a number that every file of a folder has and that new files inherit;
// the kernel counts the blocks and files of a project and refuses more than its limit with
// EDQUOT or ENOSPC. Programs in a user namespace cannot change a file's project.
package diskquota
