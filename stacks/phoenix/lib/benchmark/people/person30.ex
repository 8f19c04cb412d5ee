defmodule Benchmark.People.Person30 do
  use Ecto.Schema

  @derive {Jason.Encoder, except: [:__meta__]}
  schema "person30" do
    field :first_name, :string
    field :last_name, :string
    field :email, :string
    field :phone, :string
    field :date_of_birth, :string
    field :gender, :string
    field :address, :string
    field :city, :string
    field :state, :string
    field :zip_code, :string
    field :country, :string
    field :occupation, :string
    field :company, :string
    field :salary, :float
    field :education_level, :string
    field :marital_status, :string
    field :number_of_children, :integer
    field :height_cm, :float
    field :weight_kg, :float
    field :blood_type, :string
    field :eye_color, :string
    field :hair_color, :string
    field :favorite_color, :string
    field :hobbies, :string
    field :languages, :string
    field :social_security_number, :string
    field :passport_number, :string
    field :driver_license, :string
    field :emergency_contact, :string
    field :created_at, :string
  end
end
