package gateway

// Rights are the two lists of routes.
func Rights() (may, not []string) { return desktopMay, ownerOnly }

// PastRights are the routes for a desktop as it was.
func PastRights() []string { return pastMay }
