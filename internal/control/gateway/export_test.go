package gateway

// Rights are the two lists of routes.
func Rights() (may, not []string) { return desktopMay, ownerOnly }
