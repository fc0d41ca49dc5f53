"""Screens compose widgets and pass messages on."""
