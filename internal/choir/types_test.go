package choir

import "testing"

func TestEveryTypeHasAShapeAndAName(t *testing.T) {
	seen := map[Type]bool{}
	for _, info := range Types() {
		if seen[info.Type] {
			t.Errorf("%s is declared twice", info.Type)
		}
		seen[info.Type] = true
		if info.Sample.EventType() != info.Type {
			t.Errorf("%T says %s, declared as %s", info.Sample, info.Sample.EventType(), info.Type)
		}
		if !info.Type.wellFormed() {
			t.Errorf("%q is not a type", info.Type)
		}
		if len(info.Roles) == 0 || info.Doc == "" || info.Class == "" {
			t.Errorf("%s lacks roles, doc or class", info.Type)
		}
	}
}
