"""The service: an API for programs, a page for people, and a client."""
