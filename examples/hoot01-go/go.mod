module hoot01-example

go 1.19
