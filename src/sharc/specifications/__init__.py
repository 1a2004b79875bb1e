"""One experiment under many defensible choices: which there are, and what the answer depends on."""
