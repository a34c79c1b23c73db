"""Composes the faculties into one mind per character; the only room that knows them all."""
