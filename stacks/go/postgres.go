package main

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/lib/pq"
)

// The same timeouts as in shared/drivers/drivers.ts.
const (
	connectTimeout   = 2 * time.Second
	statementTimeout = "5s" // after that Postgres cancels the statement
	answerTimeout    = 7 * time.Second
)

// postgresSchema creates the tables of shared/stores/migrations.ts. The lock lets one process at a time create them.
const postgresSchema = `BEGIN ISOLATION LEVEL READ COMMITTED;
	SELECT pg_advisory_xact_lock(7307);
	CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY);
	CREATE TABLE IF NOT EXISTS content (
		id TEXT COLLATE "C" PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL,
		status TEXT NOT NULL, data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
	);
	CREATE TABLE IF NOT EXISTS "user" (
		id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL
	);
	INSERT INTO migration VALUES (0), (1) ON CONFLICT DO NOTHING;
	COMMIT`

func openPostgres(c config) (database, error) {
	open := openPgx
	if c.client == "lib/pq" {
		open = openPq
	}
	db, err := open(c)
	if err != nil {
		url := regexp.MustCompile("//.*@").ReplaceAllString(c.databaseURL, "//")
		reason := strings.Join(strings.Fields(err.Error()), " ") // pgx's message has several lines
		return nil, fmt.Errorf("%s cannot be used (%s): start Postgres, or fix DATABASE_URL", url, reason)
	}
	return db, nil
}

// A pgxQuerier is a pool of pgx, or a transaction. pgx itself prepares the statements that it runs.
type pgxQuerier struct {
	on interface {
		Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
		Query(context.Context, string, ...any) (pgx.Rows, error)
	}
}

type pgxDatabase struct {
	pgxQuerier
	pool *pgxpool.Pool
}

func openPgx(c config) (database, error) {
	config, err := pgxpool.ParseConfig(c.databaseURL)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(c.pool)
	config.ConnConfig.ConnectTimeout = connectTimeout
	config.ConnConfig.RuntimeParams["statement_timeout"] = statementTimeout
	if !c.prepare {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(context.Background(), postgresSchema)
	return pgxDatabase{pgxQuerier{pool}, pool}, err
}

func (q pgxQuerier) exec(ctx context.Context, statement string, values ...any) (int64, error) {
	tag, err := q.on.Exec(ctx, statement, values...)
	return tag.RowsAffected(), err
}

func (q pgxQuerier) query(ctx context.Context, statement string, values ...any) (rows, error) {
	found, err := q.on.Query(ctx, statement, values...)
	return pgxRows{found}, err
}

func (d pgxDatabase) inTx(ctx context.Context, work func(querier) error) error {
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return work(pgxQuerier{tx}) })
}

type pgxRows struct{ pgx.Rows }

func (r pgxRows) Close() error {
	r.Rows.Close()
	return r.Err()
}

func openPq(c config) (database, error) {
	config, err := pq.NewConfig(c.databaseURL)
	if err != nil {
		return nil, err
	}
	config.ConnectTimeout = connectTimeout
	config.Runtime["statement_timeout"] = statementTimeout
	if config.SSLMode == "" {
		config.SSLMode = pq.SSLModePrefer // as pgx and libpq do
	}
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, err
	}
	connector.Dialer(&patientDialer{})
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(c.pool)
	pool.SetMaxIdleConns(c.idle)
	_, err = pool.Exec(postgresSchema)
	return newSQLDatabase(pool, c.prepare), err
}

// A patientDialer limits how long a connection waits for an answer, because lib/pq waits forever, even after its context has ended.
type patientDialer struct{ net.Dialer }

func (d *patientDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	d.Timeout = timeout
	return d.DialContext(context.Background(), network, address)
}

func (d *patientDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := d.Dialer.DialContext(ctx, network, address)
	return patientConn{connection}, err
}

type patientConn struct{ net.Conn }

func (c patientConn) Read(into []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(answerTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Read(into)
}
