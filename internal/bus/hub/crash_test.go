package hub_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// crashChild asks the test binary to be a control plane that will be killed.
const crashChild = "CHOIR_TEST_RELAY_CHILD"

// beKilled relays a log of so many events until this process is killed.
func beKilled(dir, events string) error {
	n, err := strconv.Atoi(events)
	if err != nil {
		return err
	}
	l, ctx := crashLog(), context.Background()
	s, err := hub.Start(ctx, hub.Config{Dir: dir})
	if err != nil {
		return err
	}
	creds, err := s.Mint(choir.RoleShell, l.Home.User, l.Home.Computer, time.Hour)
	if err != nil {
		return err
	}
	nc, err := s.Connect(creds)
	if err != nil {
		return err
	}
	heard, err := nc.SubscribeSync("user." + string(l.Home.User) + "." + string(l.Home.Computer) + ".>")
	if err == nil {
		err = nc.Flush()
	}
	l.Append(n)
	go hub.NewRelay(s, l, bustest.Cursor(filepath.Join(dir, "relay.json")), l.Home.User, l.Home.Computer).Serve(ctx)
	for err == nil {
		_, err = heard.NextMsg(bustest.Patience)
		fmt.Println("delivered")
	}
	return err
}

func crashLog() *bustest.Log {
	return bustest.NewLog(bustest.Home{
		User: "01a1fc18-a046-7d77-89f7-e432c199ef84", Computer: "01a1fc18-a046-7fb1-b9ed-5b453396da36",
	})
}

func TestAKilledRelayLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const rounds, each = 6, 400
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashChild+"="+dir, crashChild+"_EVENTS="+strconv.Itoa(each*(round+1)))
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		// Another place every round: right at the first event, in a batch, between two.
		lines := bufio.NewScanner(out)
		for n := 0; n <= 37*round && lines.Scan(); n++ {
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
	}
	s, err := hub.Start(t.Context(), hub.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if s.MovedAside() != "" {
		t.Error("the store did not survive a kill")
	}
	l := crashLog()
	l.Append(each * rounds)
	relaying(t, s, l, filepath.Join(dir, "relay.json"))
	mustBe(t, stored(t, s, l), 1, l.Head())
}
