package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"

	"github.com/mattn/go-sqlite3"
	"modernc.org/sqlite"
)

// sqliteDrivers are the values of SQLITE_DRIVER.
var sqliteDrivers = map[string]driver.Driver{
	"mattn":   &sqlite3.SQLiteDriver{},
	"modernc": &sqlite.Driver{},
}

// sqliteSchema creates the tables of shared/stores/migrations.ts and stores how many migrations that are.
const sqliteSchema = `BEGIN IMMEDIATE;
	CREATE TABLE IF NOT EXISTS content (
		id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, author TEXT NOT NULL, status TEXT NOT NULL,
		data TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
	) STRICT;
	CREATE TABLE IF NOT EXISTS user (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, email TEXT NOT NULL) STRICT;
	PRAGMA user_version = 2;
	COMMIT`

// openSQLiteDatabase opens a file for writing. It has one connection, as the FAQ of mattn/go-sqlite3 recommends, because
// several connections would sleep while they wait for each other's locks.
func openSQLiteDatabase(c config) (database, error) {
	pool := openSQLite(c.driver, c.contentFile, "rwc",
		"busy_timeout = 5000", "journal_mode = "+c.journal, "synchronous = "+c.synchronous)
	pool.SetMaxOpenConns(1)
	if _, err := pool.Exec(sqliteSchema); err != nil {
		return nil, fmt.Errorf(`CONTENT_FILE "%s" cannot be written (%v): set it to a file that can`, c.contentFile, err)
	}
	return newSQLDatabase(pool, true), nil
}

// openSQLite makes a pool of connections to a file; see sqlite.org/uri.html for mode. The first query opens the file.
func openSQLite(name, file, mode string, pragmas ...string) *sql.DB {
	return sql.OpenDB(sqliteConnector{
		driver: sqliteDrivers[name],
		// database/sql never uses a connection from two goroutines at once, so mattn needs no mutex; modernc ignores this.
		dsn:     "file:" + url.PathEscape(file) + "?_mutex=no&mode=" + mode,
		pragmas: append(pragmas, "cache_size = -16000", "mmap_size = 0"),
	})
}

// A sqliteConnector opens connections with the same pragmas with any driver.
type sqliteConnector struct {
	driver  driver.Driver
	dsn     string
	pragmas []string
}

func (c sqliteConnector) Driver() driver.Driver { return c.driver }

func (c sqliteConnector) Connect(ctx context.Context) (driver.Conn, error) {
	connection, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	for _, pragma := range c.pragmas {
		if _, err := connection.(driver.ExecerContext).ExecContext(ctx, "PRAGMA "+pragma, nil); err != nil {
			_ = connection.Close()
			return nil, err
		}
	}
	return connection, nil
}
