"""SoulMem inside the real SillyTavern, one scenario per test."""
