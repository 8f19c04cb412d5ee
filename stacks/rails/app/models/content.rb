# frozen_string_literal: true

class Content < ContentRecord
  STATUSES = %w[draft published archived].freeze

  # The same statement as in the other servers. `update!` would send four: SELECT, BEGIN, UPDATE and COMMIT.
  UPDATE = <<~SQL
    UPDATE content SET title = :title, body = :body, author = :author, status = :status, data = :data, updated_at = :now
    WHERE id = :id RETURNING *
  SQL

  # Any JSON, also null, stored as text.
  class JsonText < ActiveRecord::Type::Json
    def serialize(value)
      ActiveSupport::JSON.encode(value)
    end
  end

  # Off, because Rails would write times in another format than the other servers.
  self.record_timestamps = false
  before_create { self.created_at = self.updated_at = self.class.now }
  before_create { data_will_change! } # otherwise Rails does not write nil, which is JSON's null

  attribute :id, default: -> { Ulid.generate }
  attribute :status, default: "draft"
  attribute :data, JsonText.new

  validates :id, format: Ulid::PATTERN
  validates :title, :author, text: { maximum: 200 }
  validates :body, text: { maximum: 50_000 }
  validates :status, inclusion: STATUSES

  scope :after, ->(id) { where(arel_table[:id].gt(id)).order(:id) }

  class << self
    # Replaces the part of a content that the client sends.
    def replace(id, draft)
      content = new(draft.merge(id:)).tap(&:validate!)
      values = content.attributes.symbolize_keys.merge(data: content.data.to_json, now:)
      find_by_sql([UPDATE, values]).first || raise(ActiveRecord::RecordNotFound)
    end

    def now
      Time.now.utc.iso8601(3)
    end
  end
end
