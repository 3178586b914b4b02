module octant-vectors

go 1.19
