package sprites

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"choiros/internal/choir"
)

// mostAnswer bounds what is read of one answer of the service.
const mostAnswer = 1 << 20

// api speaks to the service. Its errors are *choir.Error: not_found if there is no such
// sprite, busy if the account has as many as it may or Fly has no room, and unavailable for
// everything else. No error has the token in it.
type api struct {
	cfg  Config
	http *http.Client
}

func newAPI(cfg Config) *api {
	carrier := cfg.Transport
	if carrier == nil {
		carrier = http.DefaultTransport.(*http.Transport).Clone()
	}
	return &api{cfg: cfg, http: &http.Client{
		Transport: carrier,
		// The service has no reason to send a token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (a *api) close() { a.http.CloseIdleConnections() }

// sprite is the part of the service's description of a sprite that is used.
type sprite struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

// page is one answer to the question which sprites there are.
type page struct {
	Sprites []sprite `json:"sprites"`
	More    bool     `json:"has_more"`
	Next    string   `json:"next_continuation_token"`
}

// size is the size of a sprite that is asked for.
type size struct {
	MemoryMB int64  `json:"ram_mb,omitempty"`
	CPUs     int    `json:"cpus,omitempty"`
	Region   string `json:"region,omitempty"`
	DiskGB   int    `json:"storage_gb,omitempty"`
}

// creation asks for a sprite. Only who has the token reaches its address.
type creation struct {
	Name   string `json:"name"`
	Config size   `json:"config"`
	URL    struct {
		Auth string `json:"auth"`
	} `json:"url_settings"`
}

// rule is a rule of the network policy.
type rule struct {
	Domain string `json:"domain"`
	Action string `json:"action"`
}

// create makes a sprite.
func (a *api) create(ctx context.Context, name string, s size) error {
	var made sprite
	body := creation{Name: name, Config: s}
	body.URL.Auth = "sprite"
	if err := a.call(ctx, "make", http.MethodPost, "/v1/sprites", body, &made); err != nil {
		return err
	}
	if made.Name != name {
		return nonsense("make a sprite", "it made one that is called %q, and not %q", clip(made.Name), name)
	}
	return nil
}

// get returns a sprite.
func (a *api) get(ctx context.Context, name string) (sprite, error) {
	var got sprite
	err := a.call(ctx, "look for", http.MethodGet, "/v1/sprites/"+url.PathEscape(name), nil, &got)
	if err == nil && got.Name != name {
		err = nonsense("look for a sprite", "it answered about %q, and not %q", clip(got.Name), name)
	}
	return got, err
}

// remove deletes a sprite. It is idempotent.
func (a *api) remove(ctx context.Context, name string) error {
	err := a.call(ctx, "delete", http.MethodDelete, "/v1/sprites/"+url.PathEscape(name), nil, nil)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return nil
	}
	return err
}

// mostPages bounds the answers to one question which sprites there are.
const mostPages = 40

// list returns the sprites whose names begin with prefix.
func (a *api) list(ctx context.Context, prefix string) ([]sprite, error) {
	var all []sprite
	for next, n := "", 0; n < mostPages; n++ {
		query := url.Values{"prefix": {prefix}, "max_results": {"50"}}
		if next != "" {
			query.Set("continuation_token", next)
		}
		var got page
		if err := a.call(ctx, "list", http.MethodGet, "/v1/sprites?"+query.Encode(), nil, &got); err != nil {
			return nil, err
		}
		for _, s := range got.Sprites {
			if strings.HasPrefix(s.Name, prefix) { // whatever the service takes a prefix for
				all = append(all, s)
			}
		}
		if next = got.Next; !got.More || next == "" {
			return all, nil
		}
	}
	return nil, nonsense("list the sprites", "there is no end of them after %d answers", mostPages)
}

// closeNetwork makes the service refuse every connection out of a sprite.
func (a *api) closeNetwork(ctx context.Context, name string) error {
	policy := map[string][]rule{"rules": {{Domain: "*", Action: "deny"}}}
	return a.call(ctx, "close the network of", http.MethodPost, "/v1/sprites/"+url.PathEscape(name)+"/policy/network", policy, nil)
}

// upload writes a file of a sprite.
func (a *api) upload(ctx context.Context, name, path string, content []byte) error {
	query := url.Values{"path": {path}, "workingDir": {"/"}, "mkdirParents": {"true"}, "mode": {"0644"}}
	at := "/v1/sprites/" + url.PathEscape(name) + "/fs/write?" + query.Encode()
	return a.send(ctx, "upload to", http.MethodPut, at, "application/octet-stream", content, nil)
}

// call sends a request with a body in JSON, or none for nil, and decodes the answer into
// answer, unless that is nil.
func (a *api) call(ctx context.Context, what, method, path string, body, answer any) error {
	if body == nil {
		return a.send(ctx, what, method, path, "", nil, answer)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return choir.Wrap("sprites.call", choir.CodeInternal, err, "encode a request")
	}
	return a.send(ctx, what, method, path, "application/json", raw, answer)
}

func (a *api) send(ctx context.Context, what, method, path, kind string, body []byte, answer any) error {
	token, err := a.token(ctx)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, a.cfg.URL+path, bytes.NewReader(body))
	if err != nil {
		return choir.Refuse("sprites.call", choir.ReasonSpritesNoAddress)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	got, err := a.http.Do(req)
	if err != nil {
		return a.unreachable(what, err)
	}
	defer got.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(got.Body, mostAnswer+1))
	switch {
	case err != nil:
		return a.unreachable(what, err)
	case len(raw) > mostAnswer:
		return nonsense(what+" a sprite", "its answer is longer than %d bytes", mostAnswer)
	case got.StatusCode/100 != 2:
		return refusalOf(what, got.StatusCode, got.Header, raw, token)
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return nonsense(what+" a sprite", "its answer is no JSON of the Sprites API")
	}
	return nil
}

// token returns the access token. A token that could not be sent is code unavailable.
func (a *api) token(ctx context.Context) (string, error) {
	if a.cfg.Token == nil {
		return "", noToken()
	}
	token, err := a.cfg.Token(ctx)
	if err != nil {
		return "", choir.Wrap("sprites.token", choir.CodeUnavailable, err, "there is no token for Fly Sprites")
	}
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", choir.Refuse("sprites.token", choir.ReasonSpritesBadToken)
	}
	return token, nil
}

// unreachable returns the error for a request without an answer. It has not the request's
// address in it.
func (a *api) unreachable(what string, err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		err = sent.Err
	}
	e := &choir.Error{Op: "sprites.call", Code: choir.CodeUnavailable, Msg: "could not " + what + " a sprite: " + hostOf(a.cfg.URL) + " does not answer", Err: err}
	if errors.Is(err, context.Canceled) {
		e.Code = choir.CodeCancelled
	}
	return e.WithRemedy("see whether this machine reaches it, and sprites.url in choir.toml")
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "the service"
	}
	return u.Host
}

func noToken() error {
	return choir.Refuse("sprites.token", choir.ReasonSpritesNoToken)
}

// nonsense returns the error for an answer that the API does not have.
func nonsense(what, format string, args ...any) error {
	e := choir.E("sprites.call", choir.CodeUnavailable, format, args...)
	e.Msg = "could not " + what + ": the service does not answer as Fly Sprites does: " + e.Msg
	return e.WithRemedy("see whether sprites.url is the address of the Sprites API")
}

// refusal is the body of an answer that refuses something.
type refusal struct {
	Error      string  `json:"error"`
	Message    string  `json:"message"`
	Limit      float64 `json:"limit"`
	Current    float64 `json:"current_count"`
	RetryAfter float64 `json:"retry_after_seconds"`
}

// tooMany is the error of an account that has as many sprites as it may.
const tooMany = "concurrent_sprite_limit_exceeded"

// refusalOf returns the error for an answer with a status other than success.
func refusalOf(what string, status int, header http.Header, body []byte, token string) error {
	var r refusal
	said := ""
	if json.Unmarshal(body, &r) == nil {
		said = r.Message
		if said == "" {
			said = r.Error
		}
	}
	if said = clip(strings.ReplaceAll(said, token, "(token)")); said != "" {
		said = ": it says " + strconv.Quote(said)
	}
	e := &choir.Error{Op: "sprites.call", Code: choir.CodeUnavailable}
	switch {
	case status == http.StatusUnauthorized:
		e = choir.Refuse("sprites.call", choir.ReasonSpritesTokenRefused)
		e.Msg += said
	case status == http.StatusForbidden || status == http.StatusPaymentRequired:
		e.Msg, e.Remedy = "Fly does not let this account "+what+" a sprite"+said, "see the plan and the payment of the account at https://sprites.dev/account"
	case status == http.StatusNotFound:
		e.Code, e.Msg = choir.CodeNotFound, "there is no such sprite"
	case status == http.StatusTooManyRequests && r.Error == tooMany:
		e = choir.Refuse("sprites.call", choir.ReasonSpritesTooMany)
		e.Msg += said
	case status == http.StatusTooManyRequests:
		e.Code, e.Msg, e.Remedy = choir.CodeBusy, "Fly takes no further request to "+what+" a sprite for now"+said, "try again "+whenAgain(r, header)
	case status == http.StatusServiceUnavailable || status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
		e.Code, e.Msg, e.Remedy = choir.CodeBusy, "Fly cannot "+what+" a sprite for now, with status "+strconv.Itoa(status)+said, "try again "+whenAgain(r, header)
	case status >= 500:
		e.Msg, e.Remedy = "could not "+what+" a sprite: Fly answers with an error of its own, "+strconv.Itoa(status)+said, "try again later"
	default:
		e.Msg = "could not " + what + " a sprite: Fly refuses with status " + strconv.Itoa(status) + said
	}
	return e
}

// whenAgain says when a request is worth trying again.
func whenAgain(r refusal, header http.Header) string {
	seconds := int(min(max(r.RetryAfter, 0), 86_400))
	if n, err := strconv.Atoi(header.Get("Retry-After")); seconds == 0 && err == nil && n > 0 && n <= 86_400 {
		seconds = n
	}
	if seconds == 0 {
		return "later"
	}
	return "in " + strconv.Itoa(seconds) + " s"
}

// mostSaid is how much of what the service says is shown.
const mostSaid = 300

// clip returns the beginning of a text of the service's, on one line, without what steers a
// terminal.
func clip(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if len(text) > mostSaid {
		text = strings.ToValidUTF8(text[:mostSaid], "") + "..."
	}
	return text
}
