package packages

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("CHOIR_TEST_KILLED"); dir != "" {
		fetchUntilKilled(dir, os.Getenv("CHOIR_TEST_WEB"))
	}
	if dir := os.Getenv("CHOIR_TEST_FIGHT"); dir != "" {
		fightUntilKilled(dir, os.Getenv("CHOIR_TEST_WEB"))
	}
	goleak.VerifyTestMain(m)
}

// fetchUntilKilled fetches the tarball greet from a server that does not send all of it, and prints
// a dot when it has a part.
func fetchUntilKilled(dir, address string) {
	w := &web{client: &http.Transport{}, address: address}
	c, err := Open(Config{Dir: dir, Limit: 1 << 30, Registries: []Registry{NPM{Names: []string{"npm.test"}}}, From: w, Now: time.Now})
	if err != nil {
		panic(err)
	}
	item, _ := c.Item("npm.test", "/greet/-/greet-1.0.0.tgz")
	if _, _, err := c.fetching(keyOf(item.Host, item.Path), item); err != nil {
		panic(err)
	}
	if err := until(context.Background(), c, item, func(f *fetch) bool { return f.written > 0 }); err != nil {
		panic(err)
	}
	os.Stdout.WriteString(".")
	select {}
}
