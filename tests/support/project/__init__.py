"""What the tests of the whole project share."""
