"""Tables: each module makes one from collected results, in every format."""
