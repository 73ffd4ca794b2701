// The answer as a page of HTML, which needs nothing else, so that it can be printed, saved and mailed.

package verdict

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"strings"
)

// style is all that a page has beside its text. Its table is as wide as it is: a narrow screen scrolls it alone.
const style = `body{font:15px/1.4 system-ui,sans-serif;margin:1rem auto;padding:0 1rem;max-width:60rem}h1{font-size:1.4rem;line-height:1.2}p{margin:.2rem 0;overflow-wrap:anywhere}` +
	`p.part{margin-top:1rem}p.more{padding-left:1rem}pre{font-size:13px;overflow-x:auto}`

// Policy is the Content-Security-Policy of a page, in which stands what packets and peers said: it may load and run nothing.
var Policy = "default-src 'none'; style-src 'sha256-" + digest(style) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// tableHead is what a table in a text begins with: its lines stay as they are, up to the one that explains it.
const tableHead = "PLACE "

// Page is a page with a title and a text. A line of the text is a paragraph, one that is indented belongs to the one above, a blank one
// divides parts.
func Page(title, text string) string {
	var b strings.Builder
	title = html.EscapeString(title)
	b.WriteString("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\"><title>" + title +
		"</title><style>" + style + "</style></head>\n<body><main><h1>" + title + "</h1>\n")
	class, table := "", false
	for line := range strings.Lines(text) {
		escaped := html.EscapeString(strings.TrimRight(line, "\n"))
		switch trimmed := strings.TrimSpace(escaped); {
		case strings.HasPrefix(line, tableHead):
			b.WriteString("<pre tabindex=\"0\" role=\"region\" aria-label=\"places\">" + escaped + "\n")
			table = true
		case table && trimmed != "" && !strings.HasPrefix(trimmed, "SLOW:"):
			b.WriteString(escaped + "\n")
		default:
			if table {
				b.WriteString("</pre>\n")
				table = false
			}
			if trimmed == "" {
				class = " class=\"part\""
				continue
			}
			if strings.HasPrefix(line, " ") {
				class = " class=\"more\""
			}
			b.WriteString("<p" + class + ">" + trimmed + "</p>\n")
			class = ""
		}
	}
	if table {
		b.WriteString("</pre>\n")
	}
	b.WriteString("</main></body></html>\n")
	return b.String()
}
