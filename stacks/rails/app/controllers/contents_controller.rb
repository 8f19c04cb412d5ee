# frozen_string_literal: true

class ContentsController < ApplicationController
  include JsonBody
  include Stored

  MAX_LIMIT = 100
  DEFAULT_LIMIT = "20"

  before_action :check_id, only: %i[show update destroy]

  def index
    limit = integer(:limit, MAX_LIMIT, DEFAULT_LIMIT)
    contents = Content.after(after).limit(limit + 1).to_a # one more tells whether there is a next page
    items = contents.first(limit)
    render_json({ items: items.map(&:to_h), next: (items.last.id if contents.size > limit) })
  end

  def show
    render_json Content.find(params[:id]).to_h
  end

  def create
    draft = NewContent.read(json)
    render_json Content.create!(draft.to_h).to_h, status: :created
  rescue ActiveRecord::RecordNotUnique
    raise Failure.new(409, "there is a content #{draft.id} already")
  end

  def update
    draft = Draft.read(json)
    content = Content.find(params[:id])
    content.update!(draft.to_h)
    render_json content.to_h
  end

  # `destroy` would not tell whether there was one.
  def destroy
    raise ActiveRecord::RecordNotFound if Content.delete(params[:id]).zero?

    head :no_content
  end

  private

  def check_id
    check_ulid :id, params[:id]
  end

  def after
    id = params.fetch(:after, "")
    check_ulid :after, id unless id.empty?
    id
  end

  def check_ulid(name, text)
    return if text.match?(Ulid::PATTERN)

    raise ActionController::BadRequest, "#{name} must be a ULID, not #{JSON.generate(text)}"
  end
end
