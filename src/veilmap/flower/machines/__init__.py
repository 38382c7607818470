"""Processes, certificates, keys and sockets: what runs Flower on real machines."""
