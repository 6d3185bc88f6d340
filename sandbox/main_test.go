package sandbox

import (
	"encoding/json"
	"testing"

	"go.uber.org/goleak"

	"lnk/netns"
)

func TestMain(m *testing.M) {
	netns.Init()
	goleak.VerifyTestMain(m)
}

func recordText(t *testing.T, r Running) string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
