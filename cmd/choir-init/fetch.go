package main

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// fetchDoor connects to the unix socket at path and returns the one file descriptor that its
// other end sends, which the caller closes.
func fetchDoor(path string) (int, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	text, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(text, rights)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return 0, err
	}
	if len(messages) != 1 {
		return 0, errors.New("no file descriptor was sent")
	}
	sent, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, err
	}
	unix.CloseOnExec(sent[0]) // there is one: the message has room for no more, and an empty one is an error
	return sent[0], nil
}
