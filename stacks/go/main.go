// Command server is the benchmark's server in Go: net/http and html/template, with SQLite by database/sql.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// What every server grants a client, as shared/limits.ts has it.
const (
	headerBytes    = 16_384
	headersTimeout = 10 * time.Second
	requestTimeout = 30 * time.Second
	idleTimeout    = 10 * time.Second
)

const (
	// readTime lets what had arrived when the server was told to stop be read: Shutdown closes connections that look idle.
	readTime = 500 * time.Millisecond
	// grace is how long requests in flight may take to end after that.
	grace = 4 * time.Second
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// run serves until it is told to stop. Its errors are mistakes of whoever started it, one line each.
func run() error {
	config, err := readConfig()
	if err != nil {
		return err
	}
	people, err := openPeople(config.driver, config.dbFile)
	if err != nil {
		return err
	}
	defer people.close()
	stores := &storeOpener{open: func() (database, error) {
		if config.store == "postgres" {
			return openPostgres(config.postgres)
		}
		return openSQLiteStore(config)
	}}
	defer stores.close()
	if config.store != "" {
		if _, err := stores.get(); err != nil {
			return err
		}
	}
	listener, err := listen(config.host, config.port)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:                      routes(config, people, stores, identify(config, people.sqliteVersion)),
		DisableGeneralOptionsHandler: true, // or OPTIONS * would not be a 404
		MaxHeaderBytes:               headerBytes,
		ReadHeaderTimeout:            headersTimeout,
		ReadTimeout:                  requestTimeout,
		IdleTimeout:                  idleTimeout,
	}
	told, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-told.Done():
	}
	time.Sleep(readTime)
	ending, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	_ = server.Shutdown(ending) // what has not ended by then is cut
	return nil
}

// listen takes the port, and on no more addresses than it is told.
func listen(host string, port int) (net.Listener, error) {
	network := "tcp"
	if address, err := netip.ParseAddr(host); err == nil && address.Is4() {
		network = "tcp4" // for "tcp", 0.0.0.0 means all addresses of IPv6 too
	}
	listener, err := net.Listen(network, net.JoinHostPort(host, strconv.Itoa(port)))
	if err == nil {
		return listener, nil
	}
	reason := fmt.Sprintf("cannot be listened on (%v)", err)
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		reason = fmt.Sprintf("cannot be listened on (%v)", number)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		reason = "is taken"
	}
	return nil, fmt.Errorf("%s:%d %s: choose another with PORT or HOST", host, port, reason)
}
