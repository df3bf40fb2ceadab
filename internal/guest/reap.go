package guest

// Reaper collects ended children.
type Reaper struct{}
