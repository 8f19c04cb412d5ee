# frozen_string_literal: true

# What openapi.ts has made.
class DocsController < ApplicationController
  OPENAPI = Rails.root.join("build/openapi.json").read.freeze
  PAGE = Rails.root.join("build/docs.html").read.html_safe.freeze

  def openapi
    render json: OPENAPI
  end

  def show
    render html: PAGE
  end
end
