spool { directory = "" }
