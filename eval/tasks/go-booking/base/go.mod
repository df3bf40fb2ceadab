module example.org/booking

go 1.21
