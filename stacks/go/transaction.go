package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"net/http"
	"time"
)

// pgbench's transaction, as shared/tpcb/ has it.

const (
	maxID    = math.MaxInt32
	maxDelta = 5_000
	// attempts is how often a transaction is tried where others are in its way.
	attempts = 5
	// pause is the most that it waits before the second, each time more.
	pause = 5 * time.Millisecond
)

var (
	// errUndone is of a transaction of which nothing is left, as others were in its way.
	errUndone  = fmt.Errorf("undone: %w", errUnavailable)
	errTooMuch = statusError{http.StatusConflict, "a balance would be too large"}
)

// transactionStatements are the five of pgbench's own script, and a function of all that createdb.ts makes.
var transactionStatements = map[string]string{
	"account": "UPDATE pgbench_accounts SET abalance = abalance + ? WHERE aid = ?",
	"balance": "SELECT abalance FROM pgbench_accounts WHERE aid = ?",
	"teller":  "UPDATE pgbench_tellers SET tbalance = tbalance + ? WHERE tid = ?",
	"branch":  "UPDATE pgbench_branches SET bbalance = bbalance + ? WHERE bid = ?",
	"history": `INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler)
		VALUES (?, ?, ?, ?, now(), repeat('x', 22))`,
	"tx": "SELECT tpcb(?, ?, ?, ?)",
}

var numberedTransaction = numbered(transactionStatements)

// A transfer moves delta to an account, a teller and a branch.
type transfer struct{ aid, tid, bid, delta int32 }

// A balance is that of the account in the transaction.
type balance struct {
	Abalance int32 `json:"abalance"`
}

// A transactor is a database with the tables of pgbench.
type transactor interface {
	// booking is a session of the statements above, each for itself.
	booking(ctx context.Context) (session, error)
	// transaction commits what work does, or nothing of it where it fails.
	transaction(ctx context.Context, work func(session) error) error
}

// transactionRoutes mounts /tx; how is a value of POSTGRES_TX.
func transactionRoutes(mux *http.ServeMux, stores *storeOpener, how string) {
	transact := func(s *store, t transfer) (any, error) {
		b, err := s.transact(how, t)
		if state := stateOf(err); state == "42P01" || state == "42883" {
			log.Print("DATABASE_URL has no tables of pgbench: make them with: bun createdb.ts --tpcb")
			return nil, errUnavailable
		}
		return b, err
	}
	mux.Handle("POST /tx", answer(http.StatusOK, stores.usingBody(func(s *store, _ *http.Request, body any) (any, error) {
		t, err := transferIn(body)
		if err != nil {
			return nil, err
		}
		return transact(s, t)
	})))
	mux.Handle("GET /tx", answer(http.StatusOK, stores.using(func(s *store, r *http.Request) (any, error) {
		t, err := transferOf(r)
		if err != nil {
			return nil, err
		}
		return transact(s, t)
	})))
}

// transact makes one transaction in time.
func (s *store) transact(how string, t transfer) (b balance, err error) {
	ctx, cancel := patiently()
	defer cancel()
	book := inStatements
	if how == "function" {
		book = byFunction
	}
	for attempt := 1; ; attempt++ {
		b, err = book(ctx, s.database.(transactor), t)
		if !errors.Is(err, errUndone) || attempt == attempts || ctx.Err() != nil {
			return b, err
		}
		time.Sleep(rand.N(time.Duration(attempt) * pause))
	}
}

// byFunction asks once, for all of it.
func byFunction(ctx context.Context, on transactor, t transfer) (b balance, err error) {
	own, err := on.booking(ctx)
	if err == nil {
		err = own.query("tx", b.scan, t.aid, t.tid, t.bid, t.delta)
	}
	return b, err
}

// inStatements asks for BEGIN, each of the five, and COMMIT.
func inStatements(ctx context.Context, on transactor, t transfer) (b balance, err error) {
	err = on.transaction(ctx, func(tx session) error {
		add := func(statement string, id int32) error {
			changed, err := tx.exec(statement, t.delta, id)
			if err == nil && changed == 0 {
				return errNotFound
			}
			return err
		}
		if err := add("account", t.aid); err != nil {
			return err
		}
		if err := tx.query("balance", b.scan, t.aid); err != nil {
			return err
		}
		if err := add("teller", t.tid); err != nil {
			return err
		}
		if err := add("branch", t.bid); err != nil {
			return err
		}
		_, err := tx.exec("history", t.tid, t.bid, t.aid, t.delta)
		return err
	})
	return b, err
}

func (b *balance) scan(r row) error { return r.Scan(&b.Abalance) }

var transferProperties = []property{
	{"aid", isInteger(1, maxID)}, {"tid", isInteger(1, maxID)}, {"bid", isInteger(1, maxID)},
	{"delta", isInteger(-maxDelta, maxDelta)},
}

func transferIn(body any) (transfer, error) {
	o, err := validate(body, transferProperties, []string{"aid", "tid", "bid", "delta"})
	if err != nil {
		return transfer{}, err
	}
	said := func(name string) int32 { return int32(o.values[name].(float64)) }
	return transfer{said("aid"), said("tid"), said("bid"), said("delta")}, nil
}

func transferOf(r *http.Request) (transfer, error) {
	t := transfer{}
	for _, p := range []struct {
		name        string
		into        *int32
		least, most int
	}{{"aid", &t.aid, 1, maxID}, {"tid", &t.tid, 1, maxID}, {"bid", &t.bid, 1, maxID}, {"delta", &t.delta, -maxDelta, maxDelta}} {
		value, err := integer(p.name, parameter(r, p.name, ""), p.least, p.most)
		if err != nil {
			return t, err
		}
		*p.into = int32(value)
	}
	return t, nil
}

func isInteger(least, most float64) func(any) string {
	return func(value any) string {
		number, ok := value.(float64)
		switch {
		case !ok, math.IsInf(number, 0), number != math.Trunc(number):
			return "must be integer"
		case number < least:
			return fmt.Sprintf("must be >= %.0f", least)
		case number > most:
			return fmt.Sprintf("must be <= %.0f", most)
		}
		return ""
	}
}
