"""Deep recall: a question is planned, explored step by step and reflected on, as a job."""
