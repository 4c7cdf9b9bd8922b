"""Where campaigns live: databases, their schema and migrations, backups, copies and checks."""
