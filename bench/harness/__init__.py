"""What `bench/run` and `bench/real` are made of. Needs Linux, Python 3.9 and nothing else."""
