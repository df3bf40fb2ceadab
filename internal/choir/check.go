package choir

// Check returns an error if Repo is neither empty nor a valid project name. DecodeStrict
// calls it.
func (p *PromptSubmitted) Check() error { return checkRepo("repo", p.Repo) }

// Check returns an error if Name has characters that a project name may not have.
// DecodeStrict calls it.
func (p *RepoAdded) Check() error { return checkRepo("name", p.Name) }

// Check returns an error if Name has characters that a project name may not have.
// DecodeStrict calls it.
func (p *RepoExported) Check() error { return checkRepo("name", p.Name) }

func checkRepo(path, name string) error {
	if !validRepoName(name) {
		return RefuseField(path, ReasonProjectNameRule, TextOf("name", clip(name)))
	}
	return nil
}

// Check returns an error unless Request is set exactly when Kind is "request".
// DecodeStrict calls it.
func (p *TaskProgressed) Check() error {
	if (p.Kind == "request") != (p.Request != "") {
		return RefuseField("request", ReasonOnlyForRequest)
	}
	return nil
}

// Check returns an error if the range ends before it begins. DecodeStrict calls it.
func (p *LogRepaired) Check() error {
	if p.From > p.To {
		return RefuseField("to", ReasonFieldBeforeFrom)
	}
	return nil
}

// Check returns an error if Was is set for a window that is not minimised, or unless Snap
// is set exactly for a window that is snapped, or was snapped before it was minimised.
// DecodeStrict calls it.
func (p *WindowShown) Check() error {
	shown := p.State
	if p.State == WindowMinimised {
		shown = p.Was
	} else if p.Was != "" {
		return RefuseField("was", ReasonOnlyForMinimised)
	}
	if (shown == WindowSnapped) != (p.Snap != "") {
		return RefuseField("snap", ReasonOnlyForSnapped)
	}
	return nil
}

// Check returns an error if the fields do not belong to the kind. DecodeStrict calls it.
func (p *Proof) Check() error {
	numbered := p.Kind == ProofCheck || p.Kind == ProofCommand || p.Kind == ProofLog
	named := p.Kind == ProofDiff || p.Kind == ProofFile
	lines := p.Kind == ProofFile
	switch {
	case numbered != (p.Number > 0):
		return Invalid("number", "is required for check, command and log, and only for these")
	case named != (p.Path != ""):
		return Invalid("path", "is required for diff and file, and only for these")
	case lines != (p.From > 0), lines != (p.To > 0):
		return Invalid("from", "and to are required for file, and only for file")
	case p.To < p.From:
		return RefuseField("to", ReasonFieldBeforeFrom)
	}
	return nil
}
