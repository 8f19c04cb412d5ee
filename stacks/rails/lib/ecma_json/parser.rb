# frozen_string_literal: true

require "strscan"

module EcmaJson
  # Takes what RFC 8259 allows; Ruby's own parser takes comments and any escape as well. It does not recurse, as a body
  # may be nested half as deep as it is long.
  class Parser
    SPACE = /[ \t\r\n]*+/
    STRING = %r{"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u\h{4}))*+"}
    NUMBER = /-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?/
    WORD = /true|false|null/
    ESCAPE = /\\(?:u(d[89ab]\h\h)\\u(d[c-f]\h\h)|u(\h{4})|(.))/i

    WORDS = { "true" => true, "false" => false, "null" => nil }.freeze
    CHARACTERS = { "b" => "\b", "f" => "\f", "n" => "\n", "r" => "\r", "t" => "\t" }.freeze
    # Of an integer that a number of JavaScript holds whatever its digits.
    SAFE_DIGITS = 15

    def initialize(text)
      @text = StringScanner.new(text)
    end

    def parse
      root = value
      open = [root]
      closed?(open.last) ? open.pop : open.push(add(open.last)) until open.empty?
      @text.skip(SPACE)
      @text.eos? ? root : refuse
    end

    private

    def closed?(value)
      case value
      when Hash then token(/\}/)
      when Array then token(/\]/)
      else true
      end
    end

    # Reads the next value of a container.
    def add(container)
      token(/,/) || refuse unless container.empty?
      return value.tap { |part| container << part } if container.is_a?(Array)

      key = string
      token(/:/) || refuse
      container[key] = value
    end

    # An array or object is returned empty.
    def value
      return [] if token(/\[/)
      return {} if token(/\{/)

      if (digits = @text.scan(NUMBER))
        number(digits)
      elsif (word = @text.scan(WORD))
        WORDS[word]
      else
        string
      end
    end

    def number(digits)
      digits.match?(/\A-?\d{1,#{SAFE_DIGITS}}\z/o) ? digits.to_i : digits.to_f
    end

    def string
      @text.skip(SPACE)
      text = @text.scan(STRING) || refuse
      text = text[1..-2]
      text.include?("\\") ? text.gsub(ESCAPE) { character(*Regexp.last_match.captures) } : text
    end

    def character(high, low, unit, letter)
      return [0x10000 + ((high.hex & 0x3ff) << 10) + (low.hex & 0x3ff)].pack("U") if high

      unit ? [unit.hex].pack("U") : CHARACTERS.fetch(letter, letter)
    end

    def token(pattern)
      @text.skip(SPACE)
      @text.skip(pattern)
    end

    def refuse
      raise JSON::ParserError, "not valid at #{@text.charpos}"
    end
  end
end
