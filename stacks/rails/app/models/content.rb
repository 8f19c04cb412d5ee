# frozen_string_literal: true

class Content < ContentRecord
  # Rails would store times in another form than the other servers.
  self.record_timestamps = false
  before_save { self.updated_at = Time.now.utc.iso8601(3) }
  before_create { self.created_at = updated_at }

  scope :after, ->(id) { where.not(id: ..id).order(:id) }

  # As it is answered: data is kept as JSON.
  def to_h
    self.class.column_names.index_with { |name| self[name] }.merge("data" => EcmaJson::Text.new(data))
  end
end
