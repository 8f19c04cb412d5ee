# frozen_string_literal: true

# Not an ActionController::API, because that has no templates.
class PagesController < ActionController::Base
  def hi
    @name = "Ben"
  end
end
