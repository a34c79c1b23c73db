"""Names of one thing and things of one name: joined and told apart."""
