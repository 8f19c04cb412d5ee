package main

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// The content API keeps any JSON, and answers what JavaScript makes of it: keys in its order, numbers as a float64 has them,
// halves of surrogate pairs. encoding/json does not, so data is read and written here. Halves are kept in strings as UTF-8
// would write them if it could, which makes these strings invalid.

// An object is one of JSON, its keys in the order in which they came.
type object struct {
	keys   []string
	values map[string]any
}

// ordered returns the keys as JavaScript orders them: those that are indices of arrays first.
func (o object) ordered() []string {
	keys := slices.Clone(o.keys)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(index(a), index(b)) })
	return keys
}

// index is the number that a key is, a greater one than any index if it is none.
func index(key string) uint64 {
	number, err := strconv.ParseUint(key, 10, 32)
	if err != nil || strconv.FormatUint(number, 10) != key {
		return math.MaxUint32
	}
	return number
}

// A parser reads JSON that is known to be valid, as nil, bool, float64, string, []any and object.
type parser struct {
	text []byte
	at   int
}

func (p *parser) value() any {
	switch p.next() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		return p.string()
	case 't':
		p.at += len("rue")
		return true
	case 'f':
		p.at += len("alse")
		return false
	case 'n':
		p.at += len("ull")
		return nil
	default:
		return p.number()
	}
}

// next passes by the next byte that is not white space, and returns it.
func (p *parser) next() byte {
	for {
		c := p.text[p.at]
		p.at++
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
}

func (p *parser) object() object {
	o := object{values: map[string]any{}}
	for p.next() == '"' { // else } of an empty one
		key := p.string()
		p.next() // :
		if _, ok := o.values[key]; !ok {
			o.keys = append(o.keys, key)
		}
		o.values[key] = p.value()
		if p.next() == '}' {
			break
		}
	}
	return o
}

func (p *parser) array() []any {
	values := []any{}
	for p.next() != ']' {
		p.at-- // that was of the value
		values = append(values, p.value())
		if p.next() == ']' {
			break
		}
	}
	return values
}

func (p *parser) number() float64 {
	start := p.at - 1
	for p.at < len(p.text) && isOfNumber(p.text[p.at]) {
		p.at++
	}
	number, _ := strconv.ParseFloat(string(p.text[start:p.at]), 64) // ±Inf for one that is too great
	return number
}

func isOfNumber(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

func (p *parser) string() string {
	var text []byte
	for {
		c := p.text[p.at]
		p.at++
		switch c {
		case '"':
			return string(text)
		case '\\':
			text = p.escape(text)
		default:
			text = append(text, c)
		}
	}
}

var escapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\', '/': '/'}

// escape appends what stands behind a backslash.
func (p *parser) escape(text []byte) []byte {
	c := p.text[p.at]
	p.at++
	if c != 'u' {
		return append(text, escapes[c])
	}
	unit := p.unit()
	if p.text[p.at] == '\\' && p.text[p.at+1] == 'u' {
		ahead := parser{p.text, p.at + 2}
		if pair := utf16.DecodeRune(unit, ahead.unit()); pair != utf8.RuneError {
			p.at = ahead.at
			return utf8.AppendRune(text, pair)
		}
	}
	if utf16.IsSurrogate(unit) {
		return append(text, 0xed, 0x80|byte(unit>>6&0x3f), 0x80|byte(unit&0x3f))
	}
	return utf8.AppendRune(text, unit)
}

// unit reads four hexadecimal digits.
func (p *parser) unit() rune {
	unit, _ := strconv.ParseUint(string(p.text[p.at:p.at+4]), 16, 16)
	p.at += 4
	return rune(unit)
}

// appendJSON appends a value that a parser has made, as JSON.stringify writes it.
func appendJSON(text []byte, value any) []byte {
	switch value := value.(type) {
	case string:
		return appendString(text, value)
	case float64:
		return appendNumber(text, value)
	case bool:
		return strconv.AppendBool(text, value)
	case []any:
		text = append(text, '[')
		for i, part := range value {
			if i > 0 {
				text = append(text, ',')
			}
			text = appendJSON(text, part)
		}
		return append(text, ']')
	case object:
		text = append(text, '{')
		for i, key := range value.ordered() {
			if i > 0 {
				text = append(text, ',')
			}
			text = append(appendString(text, key), ':')
			text = appendJSON(text, value.values[key])
		}
		return append(text, '}')
	default:
		return append(text, "null"...)
	}
}

func appendNumber(text []byte, number float64) []byte {
	switch {
	case math.IsInf(number, 0):
		return append(text, "null"...)
	case number == 0:
		return append(text, '0') // also for -0
	default:
		digits, _ := json.Marshal(number) // as ECMAScript writes it
		return append(text, digits...)
	}
}

func appendString(text []byte, s string) []byte {
	text = append(text, '"')
	for len(s) > 0 {
		character, size := utf8.DecodeRuneInString(s)
		switch {
		case character == utf8.RuneError && size == 1: // half of a pair
			half := 0xd000 | uint64(s[1]&0x3f)<<6 | uint64(s[2]&0x3f)
			text = strconv.AppendUint(append(text, `\u`...), half, 16)
			size = 3
		case character < ' ' || character == '"' || character == '\\':
			escaped, _ := json.Marshal(s[:1])
			text = append(text, escaped[1:len(escaped)-1]...)
		default:
			text = append(text, s[:size]...)
		}
		s = s[size:]
	}
	return append(text, '"')
}
