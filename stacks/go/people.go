package main

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
)

// maxSize is the most rows that one request may ask for.
const maxSize = 500

// people is a read-only view of data.db.
type people struct {
	db            *sql.DB
	sqliteVersion string
	person5       *table
	person30      *table
}

// openPeople opens file. The error says where it is missing or is not what createdb.ts writes.
func openPeople(driver, file string) (*people, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf(`no database at "%s": make it with: bun createdb.ts --file %s`, file, file)
	}
	p := &people{db: openSQLite(driver, file, "ro", "query_only = 1")}
	// Queries wait for nothing but a core: more connections than cores would only wait for each other.
	p.db.SetMaxOpenConns(runtime.GOMAXPROCS(0))
	p.db.SetMaxIdleConns(runtime.GOMAXPROCS(0))
	if err := p.prepare(); err != nil {
		p.close()
		return nil, fmt.Errorf(`"%s" cannot be used (%v): make it again with: bun createdb.ts --file %s`, file, err, file)
	}
	return p, nil
}

func (p *people) prepare() (err error) {
	if p.person5, err = openTable(p.db, "person5"); err != nil {
		return err
	}
	if p.person30, err = openTable(p.db, "person30"); err != nil {
		return err
	}
	return p.db.QueryRow("SELECT sqlite_version()").Scan(&p.sqliteVersion)
}

func (p *people) close() { _ = p.db.Close() }

// A table whose rows are read by their ids, which have no gaps.
type table struct {
	name  string
	first int64
	count int64
	byID  *sql.Stmt
	row   reflect.Type
}

func openTable(db *sql.DB, name string) (*table, error) {
	t := &table{name: name}
	var last int64
	bounds := db.QueryRow("SELECT coalesce(min(id), 0), coalesce(max(id), 0), count(*) FROM " + name)
	if err := bounds.Scan(&t.first, &last, &t.count); err != nil {
		return nil, err
	}
	if t.count == 0 || last-t.first+1 != t.count {
		return nil, fmt.Errorf("%s is empty or has gaps between its ids", name)
	}
	var err error
	if t.row, err = rowType(db, name); err != nil {
		return nil, err
	}
	t.byID, err = db.Prepare("SELECT * FROM " + name + " WHERE id = ?")
	return t, err
}

// goTypes has what a column of data.db is read into.
var goTypes = map[string]reflect.Type{
	"INTEGER": reflect.TypeFor[int64](),
	"REAL":    reflect.TypeFor[float64](),
	"TEXT":    reflect.TypeFor[string](),
}

// rowType makes a struct with a field per column, as one would declare it by hand: encoding/json writes the fields of a
// struct in their order, but the keys of a map in that of the alphabet.
func rowType(db *sql.DB, table string) (reflect.Type, error) {
	rows, err := db.Query("SELECT * FROM " + table + " LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer rows.Close() // which gives back what may be the only connection
	columns, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	fields := make([]reflect.StructField, len(columns))
	for i, column := range columns {
		goType, ok := goTypes[column.DatabaseTypeName()]
		if !ok {
			return nil, fmt.Errorf("column %s of %s is neither INTEGER, REAL nor TEXT", column.Name(), table)
		}
		fields[i] = reflect.StructField{
			Name: fmt.Sprintf("Column%d", i),
			Type: goType,
			Tag:  reflect.StructTag(fmt.Sprintf("json:%q", column.Name())),
		}
	}
	return reflect.StructOf(fields), nil
}

// randomRows returns a slice of rows, each by a query of its own, ids uniform over the rows that exist. Queries do not end
// with their request, as they do not in the other servers: they take microseconds.
func (t *table) randomRows(size int) (any, error) {
	rows := reflect.MakeSlice(reflect.SliceOf(t.row), size, size)
	fields := make([]any, t.row.NumField())
	for i := range size {
		for f := range fields {
			fields[f] = rows.Index(i).Field(f).Addr().Interface()
		}
		id := t.first + rand.Int64N(t.count)
		switch err := t.byID.QueryRow(id).Scan(fields...); {
		case errors.Is(err, sql.ErrNoRows):
			return nil, fmt.Errorf("%s has lost its row %d", t.name, id)
		case err != nil:
			return nil, err
		}
	}
	return rows.Interface(), nil
}
