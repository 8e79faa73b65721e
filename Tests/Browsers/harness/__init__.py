"""Drives Debian's Chromium and Firefox through their remote protocols, inside a network of their own."""
