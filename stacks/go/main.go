// Command server is the benchmark's server in Go: net/http and html/template, with SQLite and Postgres.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	// drain is how long a stopped server still reads, because Shutdown closes connections whose next request is not read yet.
	drain = 500 * time.Millisecond
	// grace is how long requests in flight may take after that.
	grace = 4 * time.Second
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// run serves until SIGTERM or SIGINT. Its errors are configuration mistakes, one line each.
func run() error {
	c, err := readConfig()
	if err != nil {
		return err
	}
	p, err := openPeople(c.driver, c.dbFile)
	if err != nil {
		return err
	}
	open := sync.OnceValues(func() (database, error) { return openDatabase(c) })
	if c.store != "" {
		if _, err := open(); err != nil {
			return err
		}
	}
	listener, err := listen(c.host, c.port)
	if err != nil {
		return err
	}
	server := &http.Server{ // the same limits as in shared/limits.ts
		Handler:           routes(c, p, open),
		MaxHeaderBytes:    16_384,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       10 * time.Second,
	}
	signalled, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-signalled.Done():
	}
	time.Sleep(drain)
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	_ = server.Shutdown(ctx) // fails if requests take longer than grace; they are cut
	return nil
}

func listen(host string, port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err == nil {
		return listener, nil
	}
	reason := fmt.Sprintf("cannot be listened on (%v)", err)
	if errors.Is(err, syscall.EADDRINUSE) {
		reason = "is taken"
	}
	return nil, fmt.Errorf("%s:%d %s: choose another with PORT or HOST", host, port, reason)
}
