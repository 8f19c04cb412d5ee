package main

import (
	"context"
	"database/sql"
	"log"
	"net/http"
	"sync"
	"time"
)

// A querier runs statements, alone or in a transaction. Parameters are $1, $2, … in every database.
type querier interface {
	// exec returns how many rows have changed.
	exec(ctx context.Context, statement string, values ...any) (int64, error)
	query(ctx context.Context, statement string, values ...any) (rows, error)
}

// rows is the result of a query with database/sql or pgx.
type rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
	Close() error
}

type database interface {
	querier
	// inTx commits all statements of work; if work fails, it rolls them back.
	inTx(ctx context.Context, work func(querier) error) error
}

func openDatabase(c config) (database, error) {
	if c.store == "postgres" {
		return openPostgres(c)
	}
	return openSQLiteDatabase(c)
}

// queryAll returns all rows; fields returns the pointers that a row is scanned into.
func queryAll[T any](
	ctx context.Context, db querier, fields func(*T) []any, statement string, values ...any,
) ([]T, error) {
	found, err := db.query(ctx, statement, values...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	all := []T{}
	for found.Next() {
		var one T
		if err := found.Scan(fields(&one)...); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, found.Err()
}

// queryOne returns the only row. It reads to the end, because SQLite commits a write only then.
func queryOne[T any](
	ctx context.Context, db querier, fields func(*T) []any, statement string, values ...any,
) (one T, _ error) {
	all, err := queryAll(ctx, db, fields, statement, values...)
	if err != nil {
		return one, err
	}
	if len(all) == 0 {
		return one, errNotFound
	}
	return all[0], nil
}

type storedHandler func(context.Context, database, *http.Request) (any, error)

// stored makes handlers that need the database.
type stored struct {
	open func() (database, error)
	// timeout is how long a request may wait for the database; 0 means no limit.
	timeout time.Duration
}

// answer is the function answer with a database. If a client disconnects, its statement goes on, as in the other servers,
// because cancelling it would close the connection to the database.
func (s stored) answer(status int, handle storedHandler) http.Handler {
	return http.MaxBytesHandler(answer(status, func(r *http.Request) (any, error) {
		db, err := s.open()
		if err != nil {
			log.Print(err)
			return nil, errUnavailable
		}
		ctx := context.Background()
		if s.timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, s.timeout)
			defer cancel()
		}
		return handle(ctx, db, r)
	}), bodyBytes)
}

// A sqlDatabase is a pool of database/sql, or a transaction on it.
type sqlDatabase struct {
	pool *sql.DB
	on   interface { // the pool or the transaction
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	}
	tx       *sql.Tx   // nil for the pool
	prepared *sync.Map // statement -> *sql.Stmt; nil if statements are not prepared
}

func newSQLDatabase(pool *sql.DB, prepare bool) *sqlDatabase {
	d := &sqlDatabase{pool: pool, on: pool}
	if prepare {
		d.prepared = &sync.Map{}
	}
	return d
}

// prepare prepares a statement at its first use, because its table may not exist earlier. It returns nil if statements are not
// prepared. database/sql prepares the statement once more on each other connection.
func (d *sqlDatabase) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if d.prepared == nil {
		return nil, nil
	}
	known, ok := d.prepared.Load(text)
	if !ok {
		made, err := d.pool.PrepareContext(ctx, text)
		if err != nil {
			return nil, err
		}
		if known, ok = d.prepared.LoadOrStore(text, made); ok {
			_ = made.Close() // another request was faster
		}
	}
	if d.tx != nil {
		return d.tx.StmtContext(ctx, known.(*sql.Stmt)), nil
	}
	return known.(*sql.Stmt), nil
}

func (d *sqlDatabase) exec(ctx context.Context, text string, values ...any) (int64, error) {
	var result sql.Result
	statement, err := d.prepare(ctx, text)
	switch {
	case err != nil:
		return 0, err
	case statement == nil:
		result, err = d.on.ExecContext(ctx, text, values...)
	default:
		result, err = statement.ExecContext(ctx, values...)
	}
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (d *sqlDatabase) query(ctx context.Context, text string, values ...any) (rows, error) {
	statement, err := d.prepare(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case statement == nil:
		return d.on.QueryContext(ctx, text, values...)
	}
	return statement.QueryContext(ctx, values...)
}

func (d *sqlDatabase) inTx(ctx context.Context, work func(querier) error) error {
	for _, text := range transferStatements { // before BeginTx takes a connection, because preparing may need another one
		if _, err := d.prepare(ctx, text); err != nil {
			return err
		}
	}
	tx, err := d.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	if err := work(&sqlDatabase{d.pool, tx, tx, d.prepared}); err != nil {
		return err
	}
	return tx.Commit()
}
