"""The same client and server as Flower apps, for more than one machine."""
