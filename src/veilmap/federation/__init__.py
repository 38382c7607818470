"""Online federated learning: the phone's update, the server's rounds, what the server saw."""
