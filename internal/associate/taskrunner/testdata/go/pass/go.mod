module example.test/sum

go 1.21
