package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"
	"modernc.org/sqlite"
)

// A sqlSession is one of database/sql: a pool of connections, or a transaction.
type sqlSession struct {
	on interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	}
	// tx is the transaction, if it is one.
	tx       *sql.Tx
	prepared map[string]*sql.Stmt
	// unprepared are sent with their values each time, where they are not prepared.
	unprepared map[string]string
	// within tells how long a statement may take.
	within deadline
	// failure tells what an error of the driver means.
	failure func(error) error
}

func (s *sqlSession) exec(statement string, values ...any) (int64, error) {
	ctx, cancel := s.within()
	defer cancel()
	result, err := s.run(ctx, statement, values)
	if err != nil {
		return 0, s.failure(err)
	}
	return result.RowsAffected()
}

func (s *sqlSession) run(ctx context.Context, statement string, values []any) (sql.Result, error) {
	if prepared := s.statement(ctx, statement); prepared != nil {
		return prepared.ExecContext(ctx, values...)
	}
	return s.on.ExecContext(ctx, s.unprepared[statement], values...)
}

func (s *sqlSession) query(statement string, each func(row) error, values ...any) error {
	ctx, cancel := s.within()
	defer cancel()
	rows, err := s.ask(ctx, statement, values)
	if err != nil {
		return s.failure(err)
	}
	defer rows.Close()
	for rows.Next() { // to the end: what is written is kept only then
		if err := each(rows); err != nil {
			return s.failure(err)
		}
	}
	return s.failure(rows.Err())
}

func (s *sqlSession) ask(ctx context.Context, statement string, values []any) (*sql.Rows, error) {
	if prepared := s.statement(ctx, statement); prepared != nil {
		return prepared.QueryContext(ctx, values...)
	}
	return s.on.QueryContext(ctx, s.unprepared[statement], values...)
}

// statement returns one that is prepared, else nil.
func (s *sqlSession) statement(ctx context.Context, name string) *sql.Stmt {
	prepared := s.prepared[name]
	if prepared != nil && s.tx != nil {
		return s.tx.StmtContext(ctx, prepared)
	}
	return prepared
}

// A deadline makes the context of a statement, and what ends it.
type deadline func() (context.Context, context.CancelFunc)

// as gives statements the time that is left of a context.
func as(ctx context.Context) deadline {
	return func() (context.Context, context.CancelFunc) { return ctx, func() {} }
}

// A sqlDatabase is a pool of database/sql.
type sqlDatabase struct {
	sqlSession
	pool *sql.DB
}

func newSQLDatabase(pool *sql.DB, unprepared map[string]string, within deadline, failure func(error) error) *sqlDatabase {
	return &sqlDatabase{sqlSession{on: pool, unprepared: unprepared, within: within, failure: failure}, pool}
}

func (d *sqlDatabase) close() { _ = d.pool.Close() }

// prepareAll prepares statements, on each connection once.
func prepareAll(ctx context.Context, pool *sql.DB, statements map[string]string) (map[string]*sql.Stmt, error) {
	prepared := map[string]*sql.Stmt{}
	for name, text := range statements {
		s, err := pool.PrepareContext(ctx, text)
		if err != nil {
			return nil, err
		}
		prepared[name] = s
	}
	return prepared, nil
}

// busyMs is how long a write waits for those of other processes.
const busyMs = 5_000

// Each is applied once, as shared/stores/migrations.ts has them.
var sqliteMigrations = []string{
	`CREATE TABLE content (
		id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL, status TEXT NOT NULL,
		data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
	) STRICT`,
	"CREATE TABLE user (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, email TEXT NOT NULL) STRICT",
}

// openSQLiteStore opens a file to write. It has one connection, as the driver's FAQ has it: more would wait for each other's
// locks by sleeping.
func openSQLiteStore(c config) (database, error) {
	pool := openSQLite(c.driver, c.contentFile, "rwc",
		fmt.Sprintf("busy_timeout = %d", busyMs), "journal_mode = "+c.journal, "synchronous = "+c.synchronous)
	pool.SetMaxOpenConns(1)
	d := newSQLDatabase(pool, nil, as(context.Background()), sqliteFailure)
	err := migrateSQLite(pool)
	if err == nil {
		d.prepared, err = prepareAll(context.Background(), pool, statements)
	}
	if err != nil {
		d.close()
		return nil, fmt.Errorf(`CONTENT_FILE "%s" cannot be written (%v): set it to a file that can`, c.contentFile, err)
	}
	return d, nil
}

func migrateSQLite(pool *sql.DB) error {
	applied := 0
	read := func() error { return pool.QueryRow("PRAGMA user_version").Scan(&applied) }
	if err := read(); err != nil || applied == len(sqliteMigrations) {
		return err
	}
	if _, err := pool.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := read(); err != nil { // again: another process may have been faster
		return err
	}
	for _, migration := range sqliteMigrations[min(applied, len(sqliteMigrations)):] {
		if _, err := pool.Exec(migration); err != nil {
			return err
		}
	}
	_, err := pool.Exec(fmt.Sprintf("PRAGMA user_version = %d; COMMIT", len(sqliteMigrations)))
	return err
}

// sqliteFailure goes by the primary result code (sqlite.org/rescode.html).
func sqliteFailure(err error) error {
	code := 0
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		code = int(e.Code)
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		code = e.Code() & 0xff
	}
	switch sqlite3.ErrNo(code) {
	case sqlite3.ErrConstraint:
		return errConflict
	case sqlite3.ErrBusy, sqlite3.ErrIoErr:
		return errUnavailable
	case sqlite3.ErrFull:
		return errFull
	}
	return err
}
