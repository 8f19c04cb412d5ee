package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/lib/pq"
)

// connectTimeout is how long a connection may take.
const connectTimeout = 2 * time.Second

// migrationLock is the number of the advisory lock under which one process at a time migrates, that of the other servers.
const migrationLock = 7_307

// Each is applied once, as shared/stores/migrations.ts has them.
var postgresMigrations = []string{
	`CREATE TABLE content (
		id TEXT COLLATE "C" PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL,
		status TEXT NOT NULL, data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
	)`,
	`CREATE TABLE "user" (id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL)`,
}

type postgresClient struct {
	module string
	open   func(postgresConfig) (database, error)
}

// postgresClients are the values of POSTGRES_CLIENT.
var postgresClients = map[string]postgresClient{
	"pgx":    {"github.com/jackc/pgx/v5", openPgx},
	"lib/pq": {"github.com/lib/pq", openPq},
}

func openPostgres(c postgresConfig) (database, error) {
	d, err := database(nil), migratePostgres(c.url)
	if err == nil {
		d, err = postgresClients[c.client].open(c)
	}
	if err != nil {
		url := regexp.MustCompile("//.*@").ReplaceAllString(c.url, "//")
		reason := strings.Join(strings.Fields(err.Error()), " ") // pgx says it in lines
		return nil, fmt.Errorf("%s cannot be used (%s): start Postgres, or fix DATABASE_URL", url, reason)
	}
	return d, nil
}

// migratePostgres makes the tables, whichever client will use them.
func migratePostgres(url string) error {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	c.ConnectTimeout = connectTimeout
	ctx := context.Background()
	connection, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return err
	}
	defer connection.Close(ctx) // which also unlocks
	begin := fmt.Sprintf(`SELECT pg_advisory_lock(%d);
		CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY)`, migrationLock)
	if _, err := connection.Exec(ctx, begin); err != nil {
		return err
	}
	var applied int
	if err := connection.QueryRow(ctx, "SELECT count(*) FROM migration").Scan(&applied); err != nil {
		return err
	}
	for i := applied; i < len(postgresMigrations); i++ {
		both := fmt.Sprintf("BEGIN; %s; INSERT INTO migration VALUES (%d); COMMIT", postgresMigrations[i], i)
		if _, err := connection.Exec(ctx, both); err != nil {
			return err
		}
	}
	return nil
}

// A pgxDatabase is a pool of pgx, which prepares statements by itself.
type pgxDatabase struct {
	pool       *pgxpool.Pool
	statements map[string]string
}

func openPgx(c postgresConfig) (database, error) {
	config, err := pgxpool.ParseConfig(c.url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(c.pool)
	config.ConnConfig.ConnectTimeout = connectTimeout
	if !c.prepare {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	return &pgxDatabase{pool, numbered()}, err
}

// Queries do not end with their request, as they do not in the other servers: one that is cut costs pgx its connection.

func (d *pgxDatabase) exec(statement string, values ...any) (int64, error) {
	tag, err := d.pool.Exec(context.Background(), d.statements[statement], values...)
	return tag.RowsAffected(), postgresFailure(err)
}

func (d *pgxDatabase) query(statement string, each func(row) error, values ...any) error {
	rows, err := d.pool.Query(context.Background(), d.statements[statement], values...)
	if err != nil {
		return postgresFailure(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return postgresFailure(err)
		}
	}
	return postgresFailure(rows.Err())
}

func (d *pgxDatabase) close() { d.pool.Close() }

// openPq keeps as many connections as it may open: database/sql would close all but two when they are idle.
func openPq(c postgresConfig) (database, error) {
	config, err := pq.NewConfig(c.url)
	if err != nil {
		return nil, err
	}
	config.ConnectTimeout = connectTimeout
	if config.SSLMode == "" {
		config.SSLMode = pq.SSLModePrefer // as libpq and pgx
	}
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, err
	}
	d := &sqlDatabase{pool: sql.OpenDB(connector), unprepared: numbered(), failure: postgresFailure}
	d.pool.SetMaxOpenConns(c.pool)
	d.pool.SetMaxIdleConns(c.pool)
	if c.prepare {
		err = d.prepare(d.unprepared)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// numbered are the statements with $1, $2, … for ?.
func numbered() map[string]string {
	all := map[string]string{}
	for name, text := range statements {
		parts := strings.Split(text, "?")
		for i := range parts[1:] {
			parts[i] += "$" + strconv.Itoa(i+1)
		}
		all[name] = strings.Join(parts, "")
	}
	return all
}

// postgresFailure goes by SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html), or how a lost connection is told.
func postgresFailure(err error) error {
	code := ""
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		code = e.Code
	}
	if e := pq.As(err); e != nil {
		code = string(e.Code)
	}
	switch {
	case code == "23505":
		return errConflict
	case code == "53100":
		return errFull
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "53"), strings.HasPrefix(code, "57P0"), isLost(err):
		return errUnavailable
	}
	return err
}

func isLost(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	for _, lost := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, pgconn.ErrConnClosed} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}
