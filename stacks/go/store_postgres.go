package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/lib/pq"
)

// How long is waited, as shared/drivers/drivers.ts has it.
const (
	connectTimeout = 2 * time.Second
	// statementTimeout is after what Postgres gives a statement up.
	statementTimeout = "5s"
	// answerTimeout is for any answer: only a Postgres which does not answer at all takes that long.
	answerTimeout = 7 * time.Second
)

func patiently() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), answerTimeout)
}

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
	defer connection.Close(ctx)
	// In one transaction that sees what others did before: a pooler in between has no session whose lock it would keep.
	return pgx.BeginTxFunc(ctx, connection, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		begin := fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d);
			CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY)`, migrationLock)
		if _, err := tx.Exec(ctx, begin); err != nil {
			return err
		}
		var applied int
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM migration").Scan(&applied); err != nil {
			return err
		}
		for i := applied; i < len(postgresMigrations); i++ {
			both := fmt.Sprintf("%s; INSERT INTO migration VALUES (%d)", postgresMigrations[i], i)
			if _, err := tx.Exec(ctx, both); err != nil {
				return err
			}
		}
		return nil
	})
}

// A pgxSession is a pool of pgx, or a transaction. Statements are prepared by pgx itself.
type pgxSession struct {
	on interface {
		Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
		Query(context.Context, string, ...any) (pgx.Rows, error)
	}
	statements map[string]string
	within     deadline
}

type pgxDatabase struct {
	pgxSession
	pool *pgxpool.Pool
}

func openPgx(c postgresConfig) (database, error) {
	config, err := pgxpool.ParseConfig(c.url)
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
	all := numbered(statements)
	maps.Copy(all, numberedTransaction)
	return &pgxDatabase{pgxSession{pool, all, patiently}, pool}, err
}

// Statements do not end with their request, as they do not in the other servers: one that is cut costs pgx its connection.

func (s *pgxSession) exec(statement string, values ...any) (int64, error) {
	ctx, cancel := s.within()
	defer cancel()
	tag, err := s.on.Exec(ctx, s.statements[statement], values...)
	return tag.RowsAffected(), postgresFailure(err)
}

func (s *pgxSession) query(statement string, each func(row) error, values ...any) error {
	ctx, cancel := s.within()
	defer cancel()
	rows, err := s.on.Query(ctx, s.statements[statement], values...)
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

func (d *pgxDatabase) booking(ctx context.Context) (session, error) {
	return &pgxSession{d.pool, d.statements, as(ctx)}, nil
}

func (d *pgxDatabase) transaction(ctx context.Context, work func(session) error) error {
	return postgresFailure(pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		return work(&pgxSession{tx, d.statements, as(ctx)})
	}))
}

func (d *pgxDatabase) close() { d.pool.Close() }

// A pqDatabase prepares the statements of transactions when they are first asked for: before, there may be no tables.
type pqDatabase struct {
	*sqlDatabase
	prepare      bool
	mutex        sync.Mutex
	transactions map[string]*sql.Stmt
}

func (d *pqDatabase) booking(ctx context.Context) (session, error) { return d.bookingOf(ctx) }

func (d *pqDatabase) bookingOf(ctx context.Context) (*sqlSession, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.prepare && d.transactions == nil {
		prepared, err := prepareAll(ctx, d.pool, numberedTransaction)
		if err != nil {
			return nil, postgresFailure(err)
		}
		d.transactions = prepared
	}
	return &sqlSession{
		on: d.pool, prepared: d.transactions, unprepared: numberedTransaction, within: as(ctx), failure: postgresFailure,
	}, nil
}

func (d *pqDatabase) transaction(ctx context.Context, work func(session) error) error {
	own, err := d.bookingOf(ctx)
	if err != nil {
		return err
	}
	tx, err := d.pool.BeginTx(ctx, nil)
	if err != nil {
		return postgresFailure(err)
	}
	defer tx.Rollback() // which is nothing after Commit
	own.on, own.tx = tx, tx
	if err := work(own); err != nil {
		return err
	}
	return postgresFailure(tx.Commit())
}

// openPq keeps as many connections as it may open, unless it is told otherwise: database/sql would close all but two when they are idle.
func openPq(c postgresConfig) (database, error) {
	config, err := pq.NewConfig(c.url)
	if err != nil {
		return nil, err
	}
	config.ConnectTimeout = connectTimeout
	config.Runtime["statement_timeout"] = statementTimeout
	if config.SSLMode == "" {
		config.SSLMode = pq.SSLModePrefer // as libpq and pgx
	}
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, err
	}
	connector.Dialer(patientDialer{})
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(c.pool)
	pool.SetMaxIdleConns(c.idle)
	d := newSQLDatabase(pool, numbered(statements), patiently, postgresFailure)
	if c.prepare {
		d.prepared, err = prepareAll(context.Background(), pool, d.unprepared)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return &pqDatabase{sqlDatabase: d, prepare: c.prepare}, nil
}

// A patientDialer makes connections of which reading gives up an answer that does not come: lib/pq would wait for it, whatever
// its context says.
type patientDialer struct{ net.Dialer }

func (d patientDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	d.Timeout = timeout
	return d.Dial(network, address)
}

func (d patientDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

func (d patientDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &patientConn{Conn: connection}, nil
}

type patientConn struct {
	net.Conn
	// isTimed tells that lib/pq has a deadline of its own, as when it connects.
	isTimed bool
}

func (c *patientConn) SetDeadline(t time.Time) error {
	c.isTimed = !t.IsZero()
	return c.Conn.SetDeadline(t)
}

func (c *patientConn) Read(into []byte) (int, error) {
	if !c.isTimed {
		_ = c.SetReadDeadline(time.Now().Add(answerTimeout)) // fails where reading does
	}
	return c.Conn.Read(into)
}

// numbered are statements with $1, $2, … for ?.
func numbered(statements map[string]string) map[string]string {
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
	code := stateOf(err)
	switch {
	case code == "23505":
		return errConflict
	case code == "40001", code == "40P01":
		return errUndone
	case code == "P0002":
		return errNotFound
	case code == "22003":
		return errTooMuch
	case code == "53100":
		return errFull
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "53"), strings.HasPrefix(code, "57P0"), code == "57014", isLost(err):
		return errUnavailable
	}
	return err
}

// stateOf is the SQLSTATE of an error, "" where Postgres gave none.
func stateOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	if e := pq.As(err); e != nil {
		return string(e.Code)
	}
	return ""
}

func isLost(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	for _, lost := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone, sql.ErrTxDone,
		pgconn.ErrConnClosed, pgx.ErrTxClosed, pgx.ErrTxCommitRollback,
	} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}
