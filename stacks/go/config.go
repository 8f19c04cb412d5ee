package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// config holds all settings; each comes from an environment variable.
type config struct {
	host, dbFile, driver string
	port                 int
	// store is "sqlite", "postgres" or "". With "", the first request that needs the store opens SQLite.
	store                             string
	contentFile, journal, synchronous string
	// client is "pgx" or "lib/pq", tx "statements" or "function".
	client, databaseURL, tx string
	pool, idle              int
	prepare                 bool
}

// readConfig returns an error of one line that names the first wrong variable, its value and the remedy.
func readConfig() (config, error) {
	var env environment
	if env.integer("WORKERS", 1, 256) != 1 {
		env.mistake("WORKERS", " go uses every core by threads: leave it out")
	}
	c := config{
		host:        env.text("HOST", "0.0.0.0"),
		port:        env.integer("PORT", 3_000, 65_535),
		dbFile:      env.text("DB_FILE", "data.db"),
		driver:      env.oneOf("SQLITE_DRIVER", " on go", "mattn", "modernc"),
		contentFile: env.text("CONTENT_FILE", "content.db"),
		journal:     env.oneOf("SQLITE_JOURNAL", "", "wal", "delete"),
		synchronous: env.oneOf("SQLITE_SYNCHRONOUS", "", "normal", "full", "off", "extra"),
		client:      env.oneOf("POSTGRES_CLIENT", " on go", "pgx", "lib/pq"),
		databaseURL: env.text("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres"),
		tx:          env.oneOf("POSTGRES_TX", "", "statements", "function"),
		pool:        env.integer("POSTGRES_POOL", 10, 1_000),
		prepare:     env.oneOf("POSTGRES_PREPARE", "", "true", "false") == "true",
	}
	c.idle = env.integer("POSTGRES_IDLE", c.pool, 1_000)
	if os.Getenv("POSTGRES_IDLE") != "" && c.client != "lib/pq" {
		env.mistake("POSTGRES_IDLE", " only lib/pq has it: leave it out")
	}
	if os.Getenv("STORE") != "" {
		c.store = env.oneOf("STORE", "", "sqlite", "postgres")
	}
	return c, env.err
}

// environment reads variables and remembers the first mistake. An empty variable counts as not set.
type environment struct{ err error }

func (e *environment) mistake(name, remedy string) {
	if e.err == nil {
		e.err = fmt.Errorf(`%s is "%s":%s`, name, os.Getenv(name), remedy)
	}
}

func (e *environment) text(name, preset string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return preset
}

// integer reads an integer from 1 to most.
func (e *environment) integer(name string, preset, most int) int {
	value, err := strconv.Atoi(e.text(name, strconv.Itoa(preset)))
	if err != nil || value < 1 || value > most {
		e.mistake(name, fmt.Sprintf(" set it to an integer from 1 to %d", most))
	}
	return value
}

// oneOf reads one of choices; the first is the default. The error contains where, which says what the choices depend on.
func (e *environment) oneOf(name, where string, choices ...string) string {
	value := e.text(name, choices[0])
	if !slices.Contains(choices, value) {
		e.mistake(name, where+" set it to one of "+strings.Join(choices, " "))
	}
	return value
}
