package spec

import (
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// lines says at which line of a file each section and key begins, and each entry of a list: "network", "network.ports" and
// "network.ports[1]". The decoder keeps no positions of values that it could decode, so a file that turns out to be wrong
// later is read once more for them; the library's parser, whose interface may change with its version, is used here alone.
type lines map[string]int

func linesOf(data []byte) lines {
	found := lines{}
	var p unstable.Parser
	p.Reset(data)
	section := ""
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			section = keyOf(e) + "."
			found[keyOf(e)] = p.Shape(firstRaw(e)).Start.Line
		case unstable.KeyValue:
			found.add(&p, section, e)
		}
	}
	return found
}

func (l lines) add(p *unstable.Parser, section string, keyValue *unstable.Node) {
	key, value := section+keyOf(keyValue), keyValue.Value()
	l[key] = p.Shape(firstRaw(keyValue)).Start.Line
	entries := value.Children()
	for i := 0; entries.Next(); i++ {
		switch entry := entries.Node(); {
		case value.Kind == unstable.InlineTable:
			l.add(p, key+".", entry)
		case value.Kind == unstable.Array && entry.Raw.Length > 0:
			l[key+"["+strconv.Itoa(i)+"]"] = p.Shape(entry.Raw).Start.Line
		}
	}
}

// checkLetters refuses a key that is known only in other letters: the decoder takes Mode for mode, and of both the last.
func (l lines) checkLetters(at func(int, error) error) error {
	first := ""
	for key, line := range l {
		if _, known := kinds[key]; !known && !strings.HasSuffix(key, "]") && (first == "" || line < l[first]) {
			first = key
		}
	}
	if first == "" {
		return nil
	}
	return at(l[first], unknownKey(strings.Split(first, ".")))
}

// keyOf is a node's key, its parts joined by dots.
func keyOf(n *unstable.Node) string {
	var parts []string
	for key := n.Key(); key.Next(); {
		parts = append(parts, string(key.Node().Data))
	}
	return strings.Join(parts, ".")
}

func firstRaw(n *unstable.Node) unstable.Range {
	key := n.Key()
	key.Next()
	return key.Node().Raw
}

// of is the line of an entry of a key's list, or of the key; 0 where neither is known.
func (l lines) of(key string, index int) int {
	if line, ok := l[key+"["+strconv.Itoa(index)+"]"]; ok {
		return line
	}
	return l[key]
}
