package main

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
)

type person5 struct {
	ID        int64  `json:"id"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Email     string `json:"email"`
	Phone     string `json:"phone"`
	CreatedAt string `json:"created_at"`
}

// fields returns the pointers that the columns of a row are scanned into.
func (p *person5) fields() []any {
	return []any{&p.ID, &p.FirstName, &p.LastName, &p.Email, &p.Phone, &p.CreatedAt}
}

type person30 struct {
	ID                   int64   `json:"id"`
	FirstName            string  `json:"first_name"`
	LastName             string  `json:"last_name"`
	Email                string  `json:"email"`
	Phone                string  `json:"phone"`
	DateOfBirth          string  `json:"date_of_birth"`
	Gender               string  `json:"gender"`
	Address              string  `json:"address"`
	City                 string  `json:"city"`
	State                string  `json:"state"`
	ZipCode              string  `json:"zip_code"`
	Country              string  `json:"country"`
	Occupation           string  `json:"occupation"`
	Company              string  `json:"company"`
	Salary               float64 `json:"salary"`
	EducationLevel       string  `json:"education_level"`
	MaritalStatus        string  `json:"marital_status"`
	NumberOfChildren     int64   `json:"number_of_children"`
	HeightCm             float64 `json:"height_cm"`
	WeightKg             float64 `json:"weight_kg"`
	BloodType            string  `json:"blood_type"`
	EyeColor             string  `json:"eye_color"`
	HairColor            string  `json:"hair_color"`
	FavoriteColor        string  `json:"favorite_color"`
	Hobbies              string  `json:"hobbies"`
	Languages            string  `json:"languages"`
	SocialSecurityNumber string  `json:"social_security_number"`
	PassportNumber       string  `json:"passport_number"`
	DriverLicense        string  `json:"driver_license"`
	EmergencyContact     string  `json:"emergency_contact"`
	CreatedAt            string  `json:"created_at"`
}

func (p *person30) fields() []any {
	return []any{
		&p.ID, &p.FirstName, &p.LastName, &p.Email, &p.Phone, &p.DateOfBirth, &p.Gender, &p.Address, &p.City, &p.State,
		&p.ZipCode, &p.Country, &p.Occupation, &p.Company, &p.Salary, &p.EducationLevel, &p.MaritalStatus,
		&p.NumberOfChildren, &p.HeightCm, &p.WeightKg, &p.BloodType, &p.EyeColor, &p.HairColor, &p.FavoriteColor,
		&p.Hobbies, &p.Languages, &p.SocialSecurityNumber, &p.PassportNumber, &p.DriverLicense, &p.EmergencyContact,
		&p.CreatedAt,
	}
}

// people is a read-only view of data.db.
type people struct {
	sqliteVersion string
	person5       *table[person5]
	person30      *table[person30]
}

// openPeople opens a file that createdb.ts has written.
func openPeople(driver, file string) (*people, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf(`no database at "%s": make it with: bun createdb.ts --file %s`, file, file)
	}
	db := openSQLite(driver, file, "ro", "query_only = 1")
	// One connection per core, because a query only uses CPU time: more connections would wait for each other.
	db.SetMaxOpenConns(runtime.GOMAXPROCS(0))
	db.SetMaxIdleConns(runtime.GOMAXPROCS(0))
	var p people
	var err error
	if p.person5, err = openTable(db, "person5", (*person5).fields); err == nil {
		p.person30, err = openTable(db, "person30", (*person30).fields)
	}
	if err == nil {
		err = db.QueryRow("SELECT sqlite_version()").Scan(&p.sqliteVersion)
	}
	if err != nil {
		return nil, fmt.Errorf(`"%s" cannot be used (%v): make it again with: bun createdb.ts --file %s`, file, err, file)
	}
	return &p, nil
}

// A table has ids without gaps.
type table[T any] struct {
	name         string
	first, count int64
	byID         *sql.Stmt
	fields       func(*T) []any
}

func openTable[T any](db *sql.DB, name string, fields func(*T) []any) (*table[T], error) {
	t := &table[T]{name: name, fields: fields}
	var last int64
	bounds := db.QueryRow("SELECT coalesce(min(id), 0), coalesce(max(id), 0), count(*) FROM " + name)
	if err := bounds.Scan(&t.first, &last, &t.count); err != nil {
		return nil, err
	}
	if t.count == 0 || last-t.first+1 != t.count {
		return nil, fmt.Errorf("%s is empty or has gaps between its ids", name)
	}
	var err error
	t.byID, err = db.Prepare("SELECT * FROM " + name + " WHERE id = ?")
	return t, err
}

// randomRows runs one query per row, each with a uniformly random id. Queries have no context, because a query takes
// microseconds and a context costs one goroutine per query.
func (t *table[T]) randomRows(size int) ([]T, error) {
	rows := make([]T, size)
	for i := range rows {
		id := t.first + rand.Int64N(t.count)
		if err := t.byID.QueryRow(id).Scan(t.fields(&rows[i])...); err != nil {
			return nil, fmt.Errorf("row %d of %s: %w", id, t.name, err)
		}
	}
	return rows, nil
}
