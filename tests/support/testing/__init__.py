"""What tests of case files share."""
