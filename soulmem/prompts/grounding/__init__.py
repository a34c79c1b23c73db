"""Which parts of a language model's answer do the passage's lines bear out?"""
