package gateway

import (
	"io/fs"
	"net/http"
	"path"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// static serves the files of a built interface. Files under assets/ have a hash in their
// name and are cached for ever. A path without a file and without an extension gets
// index.html. A nil built answers code unavailable, which names what is missing.
func static(built fs.FS, what string) http.Handler {
	if built == nil {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			api.WriteProblem(w, choir.Refuse("gateway", choir.ReasonNotInBuild, choir.TextOf("what", what)))
		})
	}
	files := http.FileServerFS(built)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD are for this path", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if info, err := fs.Stat(built, name); err == nil && !info.IsDir() && name != "index.html" {
			if strings.HasPrefix(name, "assets/") {
				w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			}
			files.ServeHTTP(w, r)
			return
		}
		if path.Ext(name) != "" && name != "index.html" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeFileFS(w, r, built, "index.html")
	})
}
