package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	maxDelta = 5_000
	// attempts is how often a transaction is tried if Postgres rolls it back because of a conflict.
	attempts = 5
	// pause is the longest wait before the second attempt; before the third it is twice that, and so on.
	pause = 5 * time.Millisecond
)

// The transaction of pgbench.
const (
	addToAccount  = "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2"
	selectBalance = "SELECT abalance FROM pgbench_accounts WHERE aid = $1"
	addToTeller   = "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2"
	addToBranch   = "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2"
	insertHistory = `INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler)
		VALUES ($1, $2, $3, $4, now(), repeat('x', 22))`
)

var transferStatements = []string{addToAccount, selectBalance, addToTeller, addToBranch, insertHistory}

// A transfer adds delta to an account, a teller and a branch.
type transfer struct {
	AID   int32  `json:"aid"`
	TID   int32  `json:"tid"`
	BID   int32  `json:"bid"`
	Delta *int32 `json:"delta"` // nil if the client has not sent it
}

// A balance is the new balance of the account.
type balance struct {
	Abalance int32 `json:"abalance"`
}

func (b *balance) fields() []any { return []any{&b.Abalance} }

// transferRoutes mounts /tx; how is a value of POSTGRES_TX.
func transferRoutes(mux *http.ServeMux, s stored, how string) {
	book := inStatements
	if how == "function" {
		book = byFunction
	}
	mux.Handle("POST /tx", s.answer(http.StatusOK, func(ctx context.Context, db database, r *http.Request) (any, error) {
		var t transfer
		if err := readJSON(r, &t); err != nil {
			return nil, err
		}
		if min(t.AID, t.TID, t.BID) < 1 || t.Delta == nil || *t.Delta < -maxDelta || *t.Delta > maxDelta {
			return nil, invalid("aid, tid and bid must be at least 1, delta from %d to %d", -maxDelta, maxDelta)
		}
		for attempt := 1; ; attempt++ {
			b, err := book(ctx, db, t)
			state := stateOf(err)
			isUndone := state == "40001" || state == "40P01" // serialization failure or deadlock
			if !isUndone || attempt == attempts || ctx.Err() != nil {
				return b, err
			}
			time.Sleep(rand.N(time.Duration(attempt) * pause))
		}
	}))
}

// byFunction runs the whole transaction in one round trip.
func byFunction(ctx context.Context, db database, t transfer) (balance, error) {
	return queryOne(ctx, db, (*balance).fields, "SELECT tpcb($1, $2, $3, $4)", t.AID, t.TID, t.BID, *t.Delta)
}

// inStatements sends BEGIN, each of the five statements, and COMMIT.
func inStatements(ctx context.Context, db database, t transfer) (b balance, err error) {
	err = db.inTx(ctx, func(tx querier) error {
		add := func(statement string, id int32) error {
			changed, err := tx.exec(ctx, statement, *t.Delta, id)
			if err == nil && changed == 0 {
				return errNotFound
			}
			return err
		}
		if err := add(addToAccount, t.AID); err != nil {
			return err
		}
		if b, err = queryOne(ctx, tx, (*balance).fields, selectBalance, t.AID); err != nil {
			return err
		}
		if err := add(addToTeller, t.TID); err != nil {
			return err
		}
		if err := add(addToBranch, t.BID); err != nil {
			return err
		}
		_, err := tx.exec(ctx, insertHistory, t.TID, t.BID, t.AID, *t.Delta)
		return err
	})
	return b, err
}
