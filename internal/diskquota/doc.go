// Package diskquota limits how much room the files of a folder may take, with
// the project quotas of ext4 and XFS. A project is a number that every file of a
// folder carries and that new files inherit; the kernel counts the blocks and
// files of a project and refuses more than its limit with EDQUOT or ENOSPC.
// Nobody inside a user namespace can give a file another project.
package diskquota
