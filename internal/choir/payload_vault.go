package choir

// VaultUse says how a key of the vault is added to a request.
type VaultUse string

// The uses.
const (
	VaultForGit    VaultUse = "git"    // as the password of HTTP's Basic authentication, to git's smart HTTP requests
	VaultForHeader VaultUse = "header" // as a header of any request
)

// VaultBinding says for what a key of the vault may be used. All of it must hold.
type VaultBinding struct {
	Use      VaultUse `json:"use" choir:"enum=git|header" doc:"How the key is added: to git's requests, or as a header."`
	Host     string   `json:"host" choir:"len=1..300" doc:"The host, exactly."`
	Port     int      `json:"port" choir:"range=1..65535" doc:"Its port, where TLS is spoken."`
	Paths    []string `json:"paths" choir:"len=1..32,each=1..2000" doc:"Paths at and below which it is used; / is all."`
	Methods  []string `json:"methods,omitempty" choir:"len=1..16,each=1..40" doc:"Methods, for a header; absent for all."`
	Computer ID       `json:"computer" choir:"id7" doc:"The computer whose Associate's programs use it."`
	Project  string   `json:"project,omitempty" choir:"len=1..100" doc:"Only with this project."`
	User     string   `json:"user,omitempty" choir:"len=1..200" doc:"User name of git's Basic authentication."`
	Header   string   `json:"header,omitempty" choir:"len=1..100" doc:"Name of the header."`
	Prefix   string   `json:"prefix,omitempty" choir:"len=1..100" doc:"Text before the key in the header, such as Bearer and a space."`
}

// VaultSet says that a key of the vault may be used by the computer. The key is in no event.
type VaultSet struct {
	Name  string       `json:"name" choir:"len=1..64" doc:"Name of the entry."`
	Bound VaultBinding `json:"bound" doc:"For what it may be used."`
}

// VaultRemoved says that the computer can use a key of the vault no more.
type VaultRemoved struct {
	Name string `json:"name" choir:"len=1..64" doc:"Name of the entry."`
}

// RepoLinked names the repository at a host that a project is fetched from and pushed to
// through the git gateway. The newest event of a project counts.
type RepoLinked struct {
	Name       string `json:"name" choir:"len=1..100" doc:"Folder under workspace/."`
	URL        string `json:"url" choir:"len=1..2000" doc:"Address of the repository, https."`
	Credential string `json:"credential,omitempty" choir:"len=1..64" doc:"Entry of the vault whose key the requests get; absent for none."`
}

// RepoPushed says that the host has a commit of a project on the computer's branch.
type RepoPushed struct {
	Name   string `json:"name" choir:"len=1..100" doc:"Folder under workspace/."`
	URL    string `json:"url" choir:"len=1..2000" doc:"Address of the repository."`
	Branch string `json:"branch" choir:"len=1..300" doc:"Branch there."`
	Commit string `json:"commit" choir:"len=40..64" doc:"Object name."`
}

// RepoPushFailed says that a commit could not be pushed; it is tried again.
type RepoPushFailed struct {
	Name     string `json:"name" choir:"len=1..100" doc:"Folder under workspace/."`
	URL      string `json:"url" choir:"len=1..2000" doc:"Address of the repository."`
	Commit   string `json:"commit" choir:"len=40..64" doc:"Object name."`
	Attempts int    `json:"attempts" choir:"range=1..1000000" doc:"Attempts so far, one after the other."`
	Said     string `json:"said,omitempty" choir:"len=1..2000" doc:"What git in the sandbox said, its end; untrusted."`
}

// EventType implements Payload.
func (VaultSet) EventType() Type { return "vault.set" }

// EventType implements Payload.
func (VaultRemoved) EventType() Type { return "vault.removed" }

// EventType implements Payload.
func (RepoLinked) EventType() Type { return "repo.linked" }

// EventType implements Payload.
func (RepoPushed) EventType() Type { return "repo.pushed" }

// EventType implements Payload.
func (RepoPushFailed) EventType() Type { return "repo.push_failed" }
