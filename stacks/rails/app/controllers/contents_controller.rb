# frozen_string_literal: true

class ContentsController < StoredController
  MAX_LIMIT = 100
  DEFAULT_LIMIT = "20"

  before_action(only: %i[show update destroy]) { check_ulid :id, params[:id] }

  def index
    limit = integer(:limit, MAX_LIMIT, DEFAULT_LIMIT)
    after = params.fetch(:after, "").to_s
    check_ulid :after, after unless after.empty?
    contents = Content.after(after).limit(limit + 1).to_a # one more than the limit, to know if there is a next page
    items = contents.first(limit)
    render json: { items:, next: (items.last.id if contents.size > limit) }
  end

  def show
    render json: Content.find(params[:id])
  end

  def create
    render json: Content.create!(draft(:id)), status: :created
  end

  def update
    render json: Content.replace(params[:id], draft)
  end

  # Not Active Record's `destroy`, because it reads the item first.
  def destroy
    raise ActiveRecord::RecordNotFound if Content.delete(params[:id]).zero?

    head :no_content
  end

  private

  # Permits `data` by hand, because it is any JSON and strong parameters have no filter for that.
  def draft(*more)
    data = request.request_parameters.delete(:data)
    permit(:title, :body, :author, :status, *more).to_h.merge(data:)
  end

  def check_ulid(name, text)
    return if text.match?(Ulid::PATTERN)

    raise ActionController::BadRequest, "#{name} must be a ULID, not #{text.inspect}"
  end
end
