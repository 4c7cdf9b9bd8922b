"""Other people's tools: each file knows one of them, and imports its library when it is used."""
