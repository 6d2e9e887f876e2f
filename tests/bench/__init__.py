"""The numbers this project promises, measured as ratios inside one run: `./run bench`."""
