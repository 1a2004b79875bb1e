"""What training is made of: task streams, runs, sampling, and the linear head in closed form."""
