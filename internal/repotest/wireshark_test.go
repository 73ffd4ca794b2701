package repotest

// The dissector's package holds tests only and imports nothing of ours.
func init() {
	mayImport = append(mayImport, struct {
		pkg     string
		imports []string
	}{pkg: "deploy/wireshark"})
}
