package modelgw

import "choiros/internal/model"

// ParseMessages, ParseCompletions and ParseResponses export the parsers for tests.
func ParseMessages(raw []byte) (model.Request, error) {
	req, _, err := parseMessages(raw)
	return req, err
}

func ParseCompletions(raw []byte) (model.Request, error) {
	req, _, err := parseCompletions(raw)
	return req, err
}

func ParseResponses(raw []byte) (model.Request, error) {
	req, _, _, err := parseResponses(raw)
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
