// The tasks are no part of choir: they are compiled in sandboxes only.
module choiros/eval

go 1.25
