"""Small Python functions of our own, as people write them."""
