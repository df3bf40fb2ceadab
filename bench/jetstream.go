package bench

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/bus"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

const (
	streamPeer = "JetStream with the same permissions over the same proxy, to the same page"
	// streamConnection is the token of the page's connection; its inbox gets the messages.
	streamConnection = "bench"
)

// streamPage are the permissions of the page: those of the product's desktop.
var streamPage = choir.Caller{Role: choir.RoleDesktop, User: benchUser, Computer: benchComputer, Connection: streamConnection}

// jetStream is a NATS server of the product's version with JetStream, a stream like the
// product's and a durable consumer of it that pushes to the page. The page connects with
// the permissions of the product's desktop, through the gateway's WebSocket library and
// the product's copy of bytes to an in-process connection.
type jetStream struct {
	server *server.Server
	nc     *nats.Conn
	js     jetstream.JetStream
	proxy  *http.Server
	url    string
	ended  chan error
}

// startJetStream starts the peer with its store in dir.
func startJetStream(ctx context.Context, dir string) (*jetStream, error) {
	allow := func(subjects ...string) *server.SubjectPermission { return &server.SubjectPermission{Allow: subjects} }
	page := &server.Permissions{
		Publish:   allow(streamPage.Publishes()...),
		Subscribe: allow(append(streamPage.Subscribes(), bus.InboxPrefix(streamConnection)+".>")...),
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "bench-stream", DontListen: true, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: dir, DisableJetStreamBanner: true, MaxPayload: bus.MaxPayload,
		Users: []*server.User{{Username: "control", Password: "control"}, {Username: "page", Password: "page", Permissions: page}},
	})
	if err != nil {
		return nil, choir.Wrap("bench.jetstream", choir.CodeUnavailable, err, "configure a JetStream server")
	}
	s.Start()
	j := &jetStream{server: s, ended: make(chan error, 1)}
	if j.nc, err = nats.Connect("", nats.InProcessServer(s), nats.NoReconnect(), nats.UserInfo("control", "control")); err == nil {
		j.js, err = jetstream.New(j.nc)
	}
	if err == nil {
		err = j.makeConsumer(ctx)
	}
	if err == nil {
		err = j.serveProxy()
	}
	if err != nil {
		j.close()
		return nil, choir.Wrap("bench.jetstream", choir.CodeUnavailable, err, "start a JetStream server")
	}
	return j, nil
}

// makeConsumer makes the stream, on disk as the product's, and its consumer for the page.
func (j *jetStream) makeConsumer(ctx context.Context) error {
	stream, err := j.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: hub.StreamName, Subjects: []string{"user.*.*.>", "agent.*.*.*.>"}, Storage: jetstream.FileStorage,
		Discard: jetstream.DiscardOld, MaxBytes: 64 << 20, Duplicates: 2 * time.Minute, AllowDirect: true,
	})
	if err != nil {
		return err
	}
	_, err = stream.CreatePushConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "page", DeliverSubject: bus.InboxPrefix(streamConnection) + ".events",
		FilterSubjects: []string{
			"user." + string(benchUser) + "." + string(benchComputer) + ".>",
			"agent." + string(benchUser) + "." + string(benchComputer) + ".*.>",
		},
		AckPolicy: jetstream.AckNonePolicy, DeliverPolicy: jetstream.DeliverNewPolicy, MemoryStorage: true,
	})
	return err
}

// serveProxy carries WebSockets to the server, as the gateway does.
func (j *jetStream) serveProxy() error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	j.url = "ws://" + ln.Addr().String() + "/bus"
	j.proxy = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // the page is of another origin
		if err != nil {
			return // Accept has answered
		}
		ws.SetReadLimit(2 << 20)
		outside := websocket.NetConn(r.Context(), ws, websocket.MessageBinary)
		inside, err := j.server.InProcessConn()
		if err != nil {
			outside.Close()
			return
		}
		_ = hub.Join(r.Context(), outside, inside) // the page hangs up when it likes
	})}
	go func() { j.ended <- j.proxy.Serve(ln) }()
	return nil
}

// wire returns the address, user and subject of the page.
func (j *jetStream) wire() streamWire {
	return streamWire{URL: j.url, User: "page", Pass: "page", Subject: bus.InboxPrefix(streamConnection) + ".events"}
}

// send publishes an event for the page with the headers of the product's relay, and gives
// the moment before.
func (j *jetStream) send(e choir.Event, body []byte, n int) (time.Time, error) {
	e.User, e.Computer = benchUser, benchComputer
	msg := &nats.Msg{Subject: bus.SubjectFor(e), Data: body, Header: nats.Header{
		nats.MsgIdHdr: {string(benchComputer) + "/" + strconv.Itoa(n)}, "Choir-Seq": {strconv.Itoa(n)},
	}}
	began := time.Now()
	ack, err := j.js.PublishMsgAsync(msg)
	if err != nil {
		return began, err
	}
	select {
	case <-ack.Ok():
		return began, nil
	case err := <-ack.Err():
		return began, err
	}
}

func (j *jetStream) close() {
	if j.proxy != nil {
		_ = errors.Join(j.proxy.Close(), <-j.ended) // it ended because it was closed
	}
	if j.nc != nil {
		j.nc.Close()
	}
	j.server.Shutdown()
	j.server.WaitForShutdown()
}
