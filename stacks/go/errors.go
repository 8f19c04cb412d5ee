package main

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"
	"modernc.org/sqlite"
)

// An httpError is an answer other than 2xx.
type httpError struct {
	status  int
	message string
}

func (e httpError) Error() string { return e.message }

var (
	errNotFound    = httpError{http.StatusNotFound, "not found"}
	errInternal    = httpError{http.StatusInternalServerError, "internal error"}
	errUnavailable = httpError{http.StatusServiceUnavailable, "the store cannot be reached"}
)

func invalid(format string, parts ...any) error {
	return httpError{http.StatusUnprocessableEntity, fmt.Sprintf(format, parts...)}
}

// httpErrorOf returns the answer to any error, by the SQLSTATE of Postgres
// (postgresql.org/docs/current/errcodes-appendix.html) or the primary result code of SQLite (sqlite.org/rescode.html).
func httpErrorOf(err error) httpError {
	if e, ok := errors.AsType[httpError](err); ok {
		return e
	}
	state := stateOf(err)
	class := state[:min(len(state), 2)]
	code := sqliteCodeOf(err)
	switch {
	case state == "23505", code == sqlite3.ErrConstraint:
		return httpError{http.StatusConflict, "there is one of this id already"}
	case state == "P0002": // the function tpcb found no such row
		return errNotFound
	case state == "22003":
		return httpError{http.StatusConflict, "a balance would be too large"}
	case state == "53100", code == sqlite3.ErrFull:
		return httpError{http.StatusInsufficientStorage, "the store is full"}
	case slices.Contains([]string{"08", "40", "53", "57"}, class), code == sqlite3.ErrBusy, code == sqlite3.ErrIoErr, isLost(err):
		return errUnavailable
	}
	return errInternal
}

// stateOf returns the SQLSTATE of an error, or "" if Postgres sent none.
func stateOf(err error) string {
	var e interface{ SQLState() string }
	if errors.As(err, &e) {
		return e.SQLState()
	}
	return ""
}

func sqliteCodeOf(err error) sqlite3.ErrNo {
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return e.Code
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return sqlite3.ErrNo(e.Code() & 0xff)
	}
	return 0
}

// isLost reports whether the connection was lost or Postgres has not answered in time.
func isLost(err error) bool {
	var timeout net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &timeout) || errors.As(err, &connect) || slices.ContainsFunc([]error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone, sql.ErrTxDone,
		pgconn.ErrConnClosed, pgx.ErrTxClosed, pgx.ErrTxCommitRollback,
	}, func(lost error) bool { return errors.Is(err, lost) })
}
