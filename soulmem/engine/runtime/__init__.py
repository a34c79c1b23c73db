"""Threads, jobs, events and the Working/Idle states that all other engine rooms run on."""
