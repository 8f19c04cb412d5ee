package main

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"
	"modernc.org/sqlite"
)

// A sqlDatabase is one of database/sql.
type sqlDatabase struct {
	pool     *sql.DB
	prepared map[string]*sql.Stmt
	// unprepared are sent with their values each time, if no statement is prepared.
	unprepared map[string]string
	// failure tells what an error of the driver means.
	failure func(error) error
}

func (d *sqlDatabase) exec(statement string, values ...any) (int64, error) {
	result, err := d.run(statement, values)
	if err != nil {
		return 0, d.failure(err)
	}
	return result.RowsAffected()
}

func (d *sqlDatabase) run(statement string, values []any) (sql.Result, error) {
	if s := d.prepared[statement]; s != nil {
		return s.Exec(values...)
	}
	return d.pool.Exec(d.unprepared[statement], values...)
}

func (d *sqlDatabase) query(statement string, each func(row) error, values ...any) error {
	rows, err := d.ask(statement, values)
	if err != nil {
		return d.failure(err)
	}
	defer rows.Close()
	for rows.Next() { // to the end: what is written is kept only then
		if err := each(rows); err != nil {
			return d.failure(err)
		}
	}
	return d.failure(rows.Err())
}

func (d *sqlDatabase) ask(statement string, values []any) (*sql.Rows, error) {
	if s := d.prepared[statement]; s != nil {
		return s.Query(values...)
	}
	return d.pool.Query(d.unprepared[statement], values...)
}

func (d *sqlDatabase) close() { _ = d.pool.Close() }

// prepare prepares every statement, on each connection once.
func (d *sqlDatabase) prepare(statements map[string]string) error {
	d.prepared = map[string]*sql.Stmt{}
	for name, text := range statements {
		s, err := d.pool.Prepare(text)
		if err != nil {
			return err
		}
		d.prepared[name] = s
	}
	return nil
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
	d := &sqlDatabase{
		pool: openSQLite(c.driver, c.contentFile, "rwc",
			fmt.Sprintf("busy_timeout = %d", busyMs), "journal_mode = "+c.journal, "synchronous = "+c.synchronous),
		failure: sqliteFailure,
	}
	d.pool.SetMaxOpenConns(1)
	err := migrateSQLite(d.pool)
	if err == nil {
		err = d.prepare(statements)
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
