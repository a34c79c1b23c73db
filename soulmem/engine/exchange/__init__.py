"""Files in and out: chat files, cards and lorebooks, bundles."""
