"""Other people's tools: each file knows one of them, and imports it when it is used."""
