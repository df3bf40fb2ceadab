package modelgw

import "choiros/internal/model"

// ParseMessages and ParseCompletions open the translations to the fuzz target.
func ParseMessages(raw []byte) (model.Request, error) {
	req, _, err := parseMessages(raw)
	return req, err
}

func ParseCompletions(raw []byte) (model.Request, error) {
	req, _, err := parseCompletions(raw)
	return req, err
}

// Accounts counts the accounts that a gateway holds.
func (g *Gateway) Accounts() int {
	g.ledger.mu.Lock()
	defer g.ledger.mu.Unlock()
	return len(g.ledger.accounts)
}

// MaxAccounts is how many accounts a gateway holds beside those in use.
const MaxAccounts = maxAccounts
