package guest

import "context"

// StartRole starts the role beside init, or again when it had exited; code
// busy when one runs.
func (c *Client) StartRole(ctx context.Context, spec RoleSpec) (pid int, err error) {
	var d done
	err = c.call(ctx, &request{Op: opStartRole, Role: &spec}, &d)
	return d.PID, err
}

// SendCredentials hands a running role new credentials, one JSON value, as a
// further line; code not_found when none runs. A role that has not read what was
// sent before, code unavailable, is killed; what else runs is left alone.
func (c *Client) SendCredentials(ctx context.Context, credentials []byte) error {
	return c.call(ctx, &request{Op: opCredentials, Credentials: credentials}, &done{})
}

// StopRole ends the role (SIGTERM, after two seconds SIGKILL) and returns when
// it has ended; no error when none runs.
func (c *Client) StopRole(ctx context.Context) error {
	return c.call(ctx, &request{Op: opStopRole}, &done{})
}
