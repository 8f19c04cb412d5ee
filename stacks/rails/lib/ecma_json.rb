# frozen_string_literal: true

# The content API keeps any JSON, and answers what JSON.parse and JSON.stringify of JavaScript make of it. Halves of surrogate
# pairs are kept in strings as UTF-8 would write them if it could, which makes these strings invalid.
module EcmaJson
  # RFC 8259; Ruby's parser takes comments and any escape as well.
  GRAMMAR = %r{
    (?<space>[ \t\r\n]*+){0}
    (?<string>"(?:[^"\\\u0000-\u001f]++|\\(?:["\\/bfnrt]|u\h{4}))*+"){0}
    (?<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+){0}
    (?<array>\[(?>\g<value>(?:,\g<value>)*+|\g<space>)\]){0}
    (?<member>\g<space>\g<string>\g<space>:\g<value>){0}
    (?<object>\{(?>\g<member>(?:,\g<member>)*+|\g<space>)\}){0}
    (?<value>\g<space>(?>true|false|null|\g<string>|\g<number>|\g<array>|\g<object>)\g<space>){0}
    \A\g<value>\z
  }x
  # Deeper than anyone may nest.
  MAX_DEPTH = 66
  ESCAPED_HALF = /\\(?:u(?<half>d[89ab]\h\h)(?!\\ud[c-f]\h\h)|.)/i
  HALF = /(\xED[\xA0-\xBF][\x80-\xBF])/n
  # A key that JavaScript puts before others.
  INDEX = /\A(?:0|[1-9]\d{0,9})\z/
  MAX_INDEX = (2**32) - 2
  MAX_SAFE_INTEGER = (2**53) - 1

  # JSON that is written as it is.
  Text = Struct.new(:json) do
    def to_json(*)
      json
    end
  end

  class << self
    # What is nested too deep is cut off.
    def parse(text)
      text = text.dup.force_encoding(Encoding::UTF_8).delete_prefix("\ufeff").scrub
      raise JSON::ParserError, "not valid" unless text.match?(GRAMMAR)

      text = with_halves(text)
      begin
        JSON.parse(text, max_nesting: MAX_DEPTH)
      rescue JSON::NestingError
        JSON.parse(cut(text), max_nesting: MAX_DEPTH)
      end
    end

    # Writes what `parse` has returned.
    def generate(value)
      case value
      when Hash then "{#{members(value).join(',')}}"
      when Array then "[#{value.map { |part| generate(part) }.join(',')}]"
      when Numeric then number(value)
      when String then string(value)
      else value.to_json
      end
    end

    # The keys of an object in the order of JavaScript.
    def keys(object)
      indices, names = object.keys.partition { |key| key.match?(INDEX) && key.to_i <= MAX_INDEX }
      indices.sort_by(&:to_i) + names
    end

    def shallow?(value, levels)
      case value
      when Hash then levels.positive? && value.each_value.all? { |part| shallow?(part, levels - 1) }
      when Array then levels.positive? && value.all? { |part| shallow?(part, levels - 1) }
      else true
      end
    end

    private

    # Ruby's parser takes the first half of a pair together with whatever is escaped behind it.
    def with_halves(text)
      text.gsub(ESCAPED_HALF) do |escape|
        half = Regexp.last_match(:half)
        half ? [half.hex].pack("U") : escape
      end
    end

    def cut(text)
      depth = 0
      text.gsub(/"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]|[^"\[\]{}]++/) do |token|
        case token
        when "[", "{" then ((depth += 1) <= MAX_DEPTH && token) || (depth == MAX_DEPTH + 1 && "0") || ""
        when "]", "}" then (depth -= 1) < MAX_DEPTH ? token : ""
        else depth <= MAX_DEPTH ? token : ""
        end
      end
    end

    def members(object)
      keys(object).map { |key| "#{string(key)}:#{generate(object[key])}" }
    end

    def string(text)
      return JSON.generate(text) if text.valid_encoding?

      parts = text.b.split(HALF).map do |part|
        part.match?(HALF) ? format("\\u%04x", part.unpack1("U")) : JSON.generate(part.force_encoding("UTF-8"))[1..-2]
      end
      "\"#{parts.join}\""
    end

    # Of any number, what is nearest to it in 64 bits, as Number::toString of ECMAScript writes it.
    def number(value)
      return value.to_s if value.is_a?(Integer) && value.abs <= MAX_SAFE_INTEGER

      float = value.to_f
      digits = float.to_s # the fewest that tell it, as in JavaScript
      if !float.finite? then "null"
      elsif float.zero? then "0"
      elsif float.abs >= 1e21 || float.abs < 1e-6 then digits.sub(/(\.0)?e([+-])0*/, 'e\2')
      else BigDecimal(digits).to_s("F").delete_suffix(".0")
      end
    end
  end
end
