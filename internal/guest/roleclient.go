package guest

import "context"

// StartRole starts the role's process beside init and returns its pid. While one runs the
// error is code busy.
func (c *Client) StartRole(ctx context.Context, spec RoleSpec) (pid int, err error) {
	var d done
	err = c.call(ctx, &request{Op: opStartRole, Role: &spec}, &d)
	return d.PID, err
}

// SendCredentials writes new credentials, one JSON value, as a further line to the
// running role. Without a running role the error is code not_found. A role that has not
// read its earlier input is killed, alone, and the error is code unavailable.
func (c *Client) SendCredentials(ctx context.Context, credentials []byte) error {
	return c.call(ctx, &request{Op: opCredentials, Credentials: credentials}, &done{})
}

// StopRole ends the role (SIGTERM, after two seconds SIGKILL) and returns when it has
// ended. Without a running role it does nothing.
func (c *Client) StopRole(ctx context.Context) error {
	return c.call(ctx, &request{Op: opStopRole}, &done{})
}
