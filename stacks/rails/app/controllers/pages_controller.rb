# frozen_string_literal: true

# ActionController::API has no templates.
class PagesController < ActionController::Base
  def hi
    @name = "Ben"
  end
end
