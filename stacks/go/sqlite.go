package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"

	"github.com/mattn/go-sqlite3"
	"modernc.org/sqlite"
)

// sqliteDrivers are the values of SQLITE_DRIVER.
var sqliteDrivers = map[string]driver.Driver{
	"mattn":   &sqlite3.SQLiteDriver{},
	"modernc": &sqlite.Driver{},
}

// sqlitePragmas set what the drivers' builds of SQLite would set differently.
var sqlitePragmas = []string{"cache_size = -16000", "mmap_size = 0"}

// openSQLite opens a pool of connections to a file. It looks at the file when it is first used. The mode is that of
// sqlite.org/uri.html: ro to read, rwc to write and make what is missing.
func openSQLite(name, file, mode string, pragmas ...string) *sql.DB {
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(file)
	return sql.OpenDB(sqliteConnector{
		driver:  sqliteDrivers[name],
		dsn:     "file:" + escaped + "?mode=" + mode,
		pragmas: append(pragmas, sqlitePragmas...),
	})
}

// A sqliteConnector opens connections that all have the same pragmas, by any driver.
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
