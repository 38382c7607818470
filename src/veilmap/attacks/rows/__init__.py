"""Where the user was, from the covariance of the rows of the second layer's update."""
