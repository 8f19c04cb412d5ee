# frozen_string_literal: true

Rack::Utils.default_query_parser = FlatQueryParser.make_default(65_536, 100)
