# frozen_string_literal: true

# Reads a query as browsers do: nothing in it is nested or refused, and of a name that comes twice the first counts.
class FlatQueryParser < Rack::QueryParser
  def parse_nested_query(query, _separator = nil)
    query.to_s.split("&").reverse.to_h { |pair| pair.split("=", 2).values_at(0, 1).map { |text| decode(text.to_s) } }
  end

  private

  # What is no escape stays as it is.
  def decode(text)
    bytes = text.b.tr("+", " ").gsub(/%\h\h/) { |escape| escape.delete_prefix("%").hex.chr }
    bytes.force_encoding(Encoding::UTF_8).scrub
  end
end
