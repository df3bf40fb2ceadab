package container

// HandOver gives tests the step at which choir-init fetches its control door.
var HandOver = handOver
