"""The same client and server on Flower, for those who outgrow one machine."""
