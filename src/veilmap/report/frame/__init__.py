"""What all our HTML pages share: one file, one look, a policy that lets nothing in."""
