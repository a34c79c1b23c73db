"""What of a message is story: markup, data and hidden reasoning told from prose by their form."""
