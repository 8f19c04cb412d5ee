# frozen_string_literal: true

require_relative "ecma_json/parser"

# The content API keeps any JSON, and answers what JSON.parse and JSON.stringify of JavaScript make of it. Halves of
# surrogate pairs are kept in strings as UTF-8 would write them if it could, which makes these strings invalid.
module EcmaJson
  HALF = /(\xED[\xA0-\xBF][\x80-\xBF])/n
  # A key that JavaScript puts before others.
  INDEX = /\A(?:0|[1-9]\d{0,9})\z/
  MAX_INDEX = (2**32) - 2

  # JSON that is written as it is.
  Text = Struct.new(:json) do
    def to_json(*)
      json
    end
  end

  class << self
    def parse(bytes)
      Parser.new(bytes.dup.force_encoding(Encoding::UTF_8).delete_prefix("\ufeff").scrub).parse
    end

    # Writes what `parse` has returned.
    def generate(value)
      case value
      when Hash then "{#{members(value).join(',')}}"
      when Array then "[#{value.map { |part| generate(part) }.join(',')}]"
      when Float then float(value)
      when String then string(value)
      else value.to_json
      end
    end

    # The keys of an object in the order of JavaScript.
    def keys(object)
      indices, names = object.keys.partition { |key| index?(key) }
      indices.sort_by(&:to_i) + names
    end

    def shallow?(value, levels)
      case value
      when Hash then levels.positive? && value.each_value.all? { |part| shallow?(part, levels - 1) }
      when Array then levels.positive? && value.all? { |part| shallow?(part, levels - 1) }
      else true
      end
    end

    def replace_halves(text, other)
      text.valid_encoding? ? text : text.b.gsub(HALF, other).force_encoding(Encoding::UTF_8)
    end

    private

    def index?(key)
      key.valid_encoding? && key.match?(INDEX) && key.to_i <= MAX_INDEX
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

    # As Number::toString of ECMAScript writes it.
    def float(value)
      return "null" unless value.finite?
      return "0" if value.zero?

      digits = value.to_s # the fewest that tell it, as in JavaScript
      return digits.sub(/(\.0)?e([+-])0*/, 'e\2') unless value.abs.between?(1e-6, 1e21.prev_float)

      BigDecimal(digits).to_s("F").delete_suffix(".0")
    end
  end
end
