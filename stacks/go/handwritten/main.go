// Command handwritten has the same routes as directly as the documentation of net/http and database/sql has them:
// what `./bench.sh tax` compares the server with.
package main

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"html/template"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"strconv"

	_ "github.com/mattn/go-sqlite3"
)

type person struct {
	ID        int64  `json:"id"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Email     string `json:"email"`
	Phone     string `json:"phone"`
}

type person5 struct {
	person
	CreatedAt string `json:"created_at"`
}

func (p *person5) fields() []any {
	return []any{&p.ID, &p.FirstName, &p.LastName, &p.Email, &p.Phone, &p.CreatedAt}
}

type person30 struct {
	person
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
	return []any{&p.ID, &p.FirstName, &p.LastName, &p.Email, &p.Phone, &p.DateOfBirth, &p.Gender, &p.Address, &p.City,
		&p.State, &p.ZipCode, &p.Country, &p.Occupation, &p.Company, &p.Salary, &p.EducationLevel, &p.MaritalStatus,
		&p.NumberOfChildren, &p.HeightCm, &p.WeightKg, &p.BloodType, &p.EyeColor, &p.HairColor, &p.FavoriteColor,
		&p.Hobbies, &p.Languages, &p.SocialSecurityNumber, &p.PassportNumber, &p.DriverLicense, &p.EmergencyContact,
		&p.CreatedAt}
}

type row[T any] interface {
	*T
	fields() []any
}

func randomRows[T any, P row[T]](db *sql.DB, table string) http.HandlerFunc {
	byID, err := db.Prepare("SELECT * FROM " + table + " WHERE id = ?")
	if err != nil {
		log.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		size, err := strconv.Atoi(r.PathValue("size"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		rows := make([]T, size)
		for i := range rows {
			if err := byID.QueryRow(1 + rand.IntN(100_000)).Scan(P(&rows[i]).fields()...); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		sendJSON(w, http.StatusOK, rows)
	}
}

func sendJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, status, "application/json", text)
}

func send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func main() {
	file := cmp.Or(os.Getenv("DB_FILE"), "data.db")
	db, err := sql.Open("sqlite3", "file:"+file+"?mode=ro&_query_only=1&_cache_size=-16000")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(runtime.GOMAXPROCS(0))
	db.SetMaxIdleConns(runtime.GOMAXPROCS(0))
	hi := template.Must(template.ParseFiles("stacks/go/hi.html"))

	http.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, http.StatusOK, map[string]string{"server": "go"})
	})
	http.HandleFunc("GET /plain", func(w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, http.StatusOK, map[string]string{"message": "Hello, world!"})
	})
	http.HandleFunc("GET /html-template", func(w http.ResponseWriter, _ *http.Request) {
		var page bytes.Buffer
		if err := hi.Execute(&page, struct{ Name string }{"Ben"}); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		send(w, http.StatusOK, "text/html; charset=utf-8", page.Bytes())
	})
	http.HandleFunc("GET /sqlite/random-5fields/{size}", randomRows[person5](db, "person5"))
	http.HandleFunc("GET /sqlite/random-30fields/{size}", randomRows[person30](db, "person30"))
	if file := os.Getenv("CONTENT_FILE"); file != "" {
		routeContents(file)
	}
	log.Fatal(http.ListenAndServe(":"+os.Getenv("PORT"), nil))
}
