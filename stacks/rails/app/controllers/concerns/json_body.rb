# frozen_string_literal: true

# Of controllers whose POST and PUT read JSON.
module JsonBody
  MAX_BYTES = 102_400
  # Without a charset that some would decode, and others take for UTF-8.
  TYPE = %r{\Aapplication/json\s*(;\s*charset="?utf-8"?\s*)?\z}i

  private

  attr_reader :json

  def process_action(*)
    @json = read_json if request.post? || request.put?
    super
  end

  def read_json
    check_type
    text = request.body.read(MAX_BYTES + 1).to_s
    raise Failure.new(413, "the body is larger than #{MAX_BYTES} bytes") if text.bytesize > MAX_BYTES

    EcmaJson.parse(text)
  rescue JSON::ParserError
    raise Failure.new(400, "the body is not valid JSON")
  end

  def check_type
    type, encoding = %w[CONTENT_TYPE HTTP_CONTENT_ENCODING].map { |name| request.get_header(name).to_s }
    return if type.match?(TYPE) && encoding.empty?

    raise Failure.new(415, "the body must be of content-type application/json in UTF-8, not compressed")
  end
end
