"""From a recall request to the prompt blocks and the trace."""
