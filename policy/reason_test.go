package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

func TestReasonsAreAClosedListOfPlainSentences(t *testing.T) {
	listed := map[Reason]bool{}
	for _, r := range Reasons() {
		if listed[r] {
			t.Errorf("%q stands twice", r)
		}
		listed[r] = true
		if r == "" || len(r) > 80 || strings.Trim(string(r), "abcdefghijklmnopqrstuvwxyzIP46' ,-") != "" {
			t.Errorf("%q can't stand in a log line's brackets", r)
		}
	}
	if declared := declaredReasons(t); len(declared) != len(listed) {
		t.Errorf("%d reasons are declared, %d listed: %v", len(declared), len(listed), declared)
	}
	Reasons()[0] = "changed"
	if Reasons()[0] == "changed" {
		t.Error("the list can be changed")
	}
}

// declaredReasons are the constants called Reason… of this package's files.
func declaredReasons(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Reason") {
				found = append(found, spec.Names[0].Name)
			}
			return true
		})
	}
	return found
}

func TestWhatTheUserDidHimselfDoesNotCount(t *testing.T) {
	for _, r := range []Reason{ReasonStopped, ReasonPaused, ReasonUnreadable, ReasonOverLimit, ReasonLogUnwritable, ReasonProgramEnded, ""} {
		if r.Counts() {
			t.Errorf("%q counts", r)
		}
	}
	for _, r := range []Reason{ReasonNameNotAllowed, ReasonMetadata, ReasonMalformed, ReasonPortNotAllowed} {
		if !r.Counts() {
			t.Errorf("%q doesn't count", r)
		}
	}
}
