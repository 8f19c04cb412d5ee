class UsersController < StoredController
  MAX_USERS = 100

  def index
    render json: User.order(:id).limit(MAX_USERS)
  end

  def create
    render json: User.create!(permit(:name, :email)), status: :created
  end
end
