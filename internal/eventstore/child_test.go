package eventstore

func child(dir string) int { return 0 }
