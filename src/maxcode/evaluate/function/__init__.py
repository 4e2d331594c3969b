"""C functions as candidates: the driver, the generator of arguments and the comparison around them."""
