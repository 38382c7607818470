"""Processes, certificates, keys and sockets, to run Flower on real machines."""
