package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// What shared/content/schema.ts says of bodies, in the words of ajv, which validates them in the other servers.

// maxDepth is how deep data may be nested.
const maxDepth = 64

// A content is one item as it is stored and answered, times in ISO 8601, UTC.
type content struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Body      string   `json:"body"`
	Author    string   `json:"author"`
	Status    string   `json:"status"`
	Data      jsonText `json:"data"`
	CreatedAt string   `json:"created_at"`
	UpdatedAt string   `json:"updated_at"`
}

// A jsonText is stored as text, and answered as the JSON that it is.
type jsonText string

func (t jsonText) MarshalJSON() ([]byte, error) { return []byte(t), nil }

type user struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// A property is one of an object that is read: check tells what is wrong with a value, "" if nothing is.
type property struct {
	name  string
	check func(value any) string
}

var (
	draft = []property{
		{"title", text(200)}, {"body", text(50_000)}, {"author", text(200)}, {"status", isStatus}, {"data", isAny},
	}
	newContent = append([]property{{"id", isULID}}, draft...)
	newUser    = []property{{"name", text(200)}, {"email", text(200)}}
)

// text checks strings that every store can keep.
func text(maxLength int) func(any) string {
	return func(value any) string {
		s, ok := value.(string)
		switch {
		case !ok:
			return "must be string"
		case utf8.RuneCountInString(s) > maxLength:
			return fmt.Sprintf("must NOT have more than %d characters", maxLength)
		case s == "":
			return "must NOT have fewer than 1 characters"
		case strings.ContainsRune(s, 0) || !utf8.ValidString(s): // by halves of surrogate pairs
			return `must match pattern "^[^\u0000\ud800-\udfff]*$"`
		}
		return ""
	}
}

var ulidPattern = regexp.MustCompile("^[0-7][0-9A-HJKMNP-TV-Z]{25}$")

func isULID(value any) string {
	s, ok := value.(string)
	switch {
	case !ok:
		return "must be string"
	case !ulidPattern.MatchString(s):
		return fmt.Sprintf(`must match pattern "%s"`, ulidPattern)
	}
	return ""
}

func isStatus(value any) string {
	if slices.Contains([]any{"draft", "published", "archived"}, value) {
		return ""
	}
	return "must be equal to one of the allowed values"
}

func isAny(any) string { return "" }

// validate returns the object that a body is, or the first mistake in it.
func validate(body any, properties []property, required []string) (object, error) {
	o, ok := body.(object)
	if !ok {
		return o, invalid("the body must be object")
	}
	for _, name := range required {
		if _, ok := o.values[name]; !ok {
			return o, invalid("the body must have required property '%s'", name)
		}
	}
	for _, key := range o.ordered() {
		if !slices.ContainsFunc(properties, func(p property) bool { return p.name == key }) {
			return o, invalid("the body must NOT have additional properties %s", key)
		}
	}
	for _, p := range properties {
		if value, ok := o.values[p.name]; ok {
			if mistake := p.check(value); mistake != "" {
				return o, invalid("%s %s", p.name, mistake)
			}
		}
	}
	return o, nil
}

func invalid(format string, parts ...any) error {
	return statusError{422, fmt.Sprintf(format, parts...)}
}

// contentOf reads what a client says of a content, defaults filled in.
func contentOf(body any, properties []property) (content, error) {
	o, err := validate(body, properties, []string{"title", "body", "author"})
	if err != nil {
		return content{}, err
	}
	data := o.values["data"]
	if !isShallow(data, maxDepth) {
		return content{}, invalid("data must not be nested more than %d deep", maxDepth)
	}
	said := func(name, otherwise string) string {
		if value, ok := o.values[name]; ok {
			return value.(string)
		}
		return otherwise
	}
	return content{
		ID:     said("id", ""),
		Title:  said("title", ""),
		Body:   said("body", ""),
		Author: said("author", ""),
		Status: said("status", "draft"),
		Data:   jsonText(appendJSON(nil, data)),
	}, nil
}

func userOf(body any) (user, error) {
	o, err := validate(body, newUser, []string{"name", "email"})
	if err != nil {
		return user{}, err
	}
	return user{Name: o.values["name"].(string), Email: o.values["email"].(string)}, nil
}

func isShallow(value any, levels int) bool {
	isDeep := func(part any) bool { return !isShallow(part, levels-1) }
	switch value := value.(type) {
	case []any:
		return levels > 0 && !slices.ContainsFunc(value, isDeep)
	case object:
		return levels > 0 && !slices.ContainsFunc(value.keys, func(key string) bool { return isDeep(value.values[key]) })
	default:
		return true
	}
}
